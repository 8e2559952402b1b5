/** `start`, `stop` and `restart` write what the user wants; the reconciler does it (facts 4.1). */

import { writerOf } from '#kernel/principal.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import type { WritingAction, WritingContext } from '#plane/declare/action.ts'
import type { RightElsewhere } from '#plane/declare/stored.ts'
import type { SecretStore } from '../../../dependencies.ts'
import { requireAccess } from '../../../domain/require-access.ts'
import type { ContainerGroup } from '../model.ts'

/** The rights to use the secrets, as at a PUT: containers that are made anew get their current values. */
function rightsToSecrets(
  secrets: SecretStore | undefined,
  { secretIds = {} }: ContainerGroup,
): readonly (RightElsewhere & { readonly uri: string })[] {
  const action = secrets?.use
  if (action === undefined) return []
  return Object.entries(secretIds).map(([uri, key]) => {
    const scope = parseResourceId(key)
    if (scope === undefined) throw new Error('the key of a secret is an id')
    return { action, scope, uri }
  })
}

/** The caller becomes the writer of a group with secrets. */
async function madeAnew(
  context: WritingContext<ContainerGroup>,
  secrets: SecretStore | undefined,
): Promise<ContainerGroup> {
  const { model } = context.resource
  const anew = { ...model, intent: 'running', epoch: model.epoch + 1 } as const
  const rights = rightsToSecrets(secrets, model)
  for (const { action, scope, uri } of rights) await requireAccess(context, action, scope, uri)
  if (rights.length === 0) return anew
  return { ...anew, writer: writerOf(context.principal, model.writer) }
}

export const start = (secrets: SecretStore | undefined): WritingAction<ContainerGroup> => ({
  method: 'POST',
  description: 'Starts all containers of a stopped group, from new.',
  writes: true,
  rights: (model) => rightsToSecrets(secrets, model),
  async run(context) {
    const { model, state } = context.resource
    if (model.intent === 'running' && state === 'Succeeded') return { status: 204 }
    return { status: 202, model: await madeAnew(context, secrets) }
  },
})

export const stop: WritingAction<ContainerGroup> = {
  method: 'POST',
  description: 'Stops all containers of a group; its processors, memory and address are given up.',
  endsWork: true,
  writes: true,
  async run({ resource: { model, state } }) {
    if (model.intent === 'stopped' && state === 'Succeeded') return { status: 204 }
    return { status: 204, model: { ...model, intent: 'stopped' } }
  },
}

export const restart = (secrets: SecretStore | undefined): WritingAction<ContainerGroup> => ({
  method: 'POST',
  description: 'Makes all containers of a group anew, whether they run or not.',
  writes: true,
  rights: (model) => rightsToSecrets(secrets, model),
  async run(context) {
    return { status: 204, model: await madeAnew(context, secrets) }
  },
})
