/** `start`, `stop` and `restart`: they write what the user wants; the reconciler does it (facts 4.1). */

import type { Action } from '#plane/define.ts'
import type { ContainerGroup } from '../model.ts'

/** Of the resource, which is there: actions run on stored groups only. */
function groupOf(resource: { readonly model: ContainerGroup } | undefined): ContainerGroup {
  if (resource === undefined) throw new Error('an action runs on a stored group')
  return resource.model
}

export const start: Action<ContainerGroup> = {
  method: 'POST',
  description: 'Starts all containers of a stopped group, from new.',
  writes: true,
  async run({ resource }) {
    const model = groupOf(resource)
    const runs = model.intent === 'running' && resource?.state === 'Succeeded'
    if (runs) return { status: 204 }
    return { status: 202, model: { ...model, intent: 'running', epoch: model.epoch + 1 } }
  },
}

export const stop: Action<ContainerGroup> = {
  method: 'POST',
  description: 'Stops all containers of a group; its processors, memory and address are given up.',
  writes: true,
  async run({ resource }) {
    const model = groupOf(resource)
    if (model.intent === 'stopped' && resource?.state === 'Succeeded') return { status: 204 }
    return { status: 204, model: { ...model, intent: 'stopped' } }
  },
}

export const restart: Action<ContainerGroup> = {
  method: 'POST',
  description: 'Makes all containers of a group anew, whether they run or not.',
  writes: true,
  async run({ resource }) {
    const model = groupOf(resource)
    return { status: 204, model: { ...model, intent: 'running', epoch: model.epoch + 1 } }
  },
}
