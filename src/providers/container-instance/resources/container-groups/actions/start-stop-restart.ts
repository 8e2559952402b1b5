/** `start`, `stop` and `restart` write what the user wants; the reconciler does it (facts 4.1). */

import { writerOf } from '#kernel/principal.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import type { Action, ActionContext } from '#plane/declare/action.ts'
import type { SecretStore } from '../../../dependencies.ts'
import type { ContainerGroup } from '../model.ts'
import { requireLinked } from '../prepare.ts'

/** The group; it always exists, since actions run only on stored groups. */
function groupOf(resource: { readonly model: ContainerGroup } | undefined): ContainerGroup {
  if (resource === undefined) throw new Error('an action runs on a stored group')
  return resource.model
}

/**
 * Checked as at a PUT, since the containers get the current values of the secrets. The caller becomes the writer.
 */
async function madeAnew(
  context: ActionContext<ContainerGroup>,
  secrets: SecretStore | undefined,
): Promise<ContainerGroup> {
  const model = groupOf(context.resource)
  const { secretIds } = model
  const anew = { ...model, intent: 'running', epoch: model.epoch + 1 } as const
  if (secrets?.use === undefined || secretIds === undefined) return anew
  for (const [uri, key] of Object.entries(secretIds)) {
    const id = parseResourceId(key)
    if (id === undefined) throw new Error('the key of a secret is an id')
    await requireLinked(context, secrets.use, id, uri)
  }
  return { ...anew, writer: writerOf(context.principal, model.writer) }
}

export const start = (secrets: SecretStore | undefined): Action<ContainerGroup> => ({
  method: 'POST',
  description: 'Starts all containers of a stopped group, from new.',
  writes: true,
  async run(context) {
    const { resource } = context
    const runs = groupOf(resource).intent === 'running' && resource?.state === 'Succeeded'
    if (runs) return { status: 204 }
    return { status: 202, model: await madeAnew(context, secrets) }
  },
})

export const stop: Action<ContainerGroup> = {
  method: 'POST',
  description: 'Stops all containers of a group; its processors, memory and address are given up.',
  endsWork: true,
  writes: true,
  async run({ resource }) {
    const model = groupOf(resource)
    if (model.intent === 'stopped' && resource?.state === 'Succeeded') return { status: 204 }
    return { status: 204, model: { ...model, intent: 'stopped' } }
  },
}

export const restart = (secrets: SecretStore | undefined): Action<ContainerGroup> => ({
  method: 'POST',
  description: 'Makes all containers of a group anew, whether they run or not.',
  writes: true,
  async run(context) {
    return { status: 204, model: await madeAnew(context, secrets) }
  },
})
