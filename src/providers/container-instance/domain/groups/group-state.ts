/** The state of a group (facts 4.4), from the desired and the observed state. Pure. */

import {
  allContainers,
  type ContainerGroup,
  hashOf,
} from '../../resources/container-groups/model.ts'
import type { ContainerRecord, Observed } from './observation.ts'

type GroupState = 'Pending' | 'Running' | 'Stopped' | 'Succeeded' | 'Failed'

export function groupStateOf(model: ContainerGroup, observed: Observed | undefined): GroupState {
  if (observed === undefined) return 'Pending'
  const hash = hashOf(model)
  if (model.intent === 'stopped') {
    const alive = observed.seen.parts.some(({ state }) => state.kind === 'running')
    return alive || observed.seen.sandbox === 'up' ? 'Running' : 'Stopped'
  }
  if (observed.lost === hash) return 'Failed'
  const parts = allContainers(model).map(({ name, init }) => ({ init, part: observed.parts[name] }))
  const own = (part: ContainerRecord | undefined): part is ContainerRecord => part?.hash === hash
  const main = parts.filter(({ init }) => !init).map(({ part }) => part)
  const initFailed = parts.some(
    ({ init, part }) =>
      init && own(part) && part.state.kind === 'terminated' && part.state.exitCode !== 0,
  )
  const { restartPolicy } = model.properties
  if (initFailed && restartPolicy === 'Never') return 'Failed'
  if (observed.trouble?.retry === 'never') return 'Failed'
  if (!main.every(own) || main.some((part) => isNotYet(part))) return 'Pending'
  const ends = main.map(({ state }) => state)
  if (restartPolicy === 'Always' || !ends.every((state) => state.kind === 'terminated')) {
    return 'Running'
  }
  if (ends.every((state) => state.kind === 'terminated' && state.exitCode === 0)) return 'Succeeded'
  return restartPolicy === 'Never' ? 'Failed' : 'Running'
}

function isNotYet({ state }: ContainerRecord): boolean {
  if (state.kind === 'terminated') return state.reason === 'CannotStart'
  return state.kind === 'absent' || state.kind === 'created'
}
