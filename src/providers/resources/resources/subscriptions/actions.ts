/** Cancel, enable, rename: what is done to a subscription by POST. Each names what shall be; none loses data. */

import Type, { type Static, type TSchema } from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import type { ActionOutcome, WritingAction, WritingContext } from '#plane/declare/action.ts'
import { displayNameMax, type Subscription } from './model.ts'

const answer = Type.Object({ subscriptionId: Type.String({ format: 'uuid' }) })
const renameBody = Type.Object({
  subscriptionName: Type.String({ minLength: 1, maxLength: displayNameMax }),
})

/** Writes what changed, and nothing when nothing did. */
function changing(
  { id, resource }: WritingContext<Subscription>,
  change: Partial<Subscription>,
): Promise<ActionOutcome<Subscription>> {
  const model = { ...resource.model, ...change }
  const same =
    model.state === resource.model.state && model.displayName === resource.model.displayName
  return Promise.resolve({
    status: 200,
    body: { subscriptionId: nameOf(id) },
    ...(same ? {} : { model }),
  })
}

function stateAction(
  state: Subscription['state'],
  description: string,
): WritingAction<Subscription> {
  return {
    method: 'POST',
    description,
    answer,
    writes: true,
    run: (context) => changing(context, { state }),
  }
}

const rename: WritingAction<Subscription> & { readonly body: TSchema } = {
  method: 'POST',
  description: 'Gives a subscription another display name.',
  body: renameBody,
  answer,
  writes: true,
  run: (context, body: Static<typeof renameBody>) =>
    changing(context, { displayName: body.subscriptionName }),
}

export const subscriptionActions: Readonly<Record<string, WritingAction<Subscription>>> = {
  cancel: stateAction(
    'Disabled',
    'Disables a subscription: everything stays readable, nothing is written.',
  ),
  enable: stateAction('Enabled', 'Enables a disabled subscription again.'),
  rename,
}
