/** Derives the availability of a group from its last observation. Pure. */

import type { Resource } from '#plane/declare/resource.ts'
import type { ContainerGroup } from '../../resources/container-groups/model.ts'
import { groupStateOf } from './group-state.ts'
import type { Observed } from './observation.ts'

interface GroupAvailability {
  readonly state: 'Available' | 'Unavailable' | 'Unknown'
  readonly summary: string
  readonly reasonType?: 'Unplanned' | 'UserInitiated'
}

export function groupAvailability(resource: Resource): GroupAvailability {
  // The type's `toModel` made the rows, and its reconciler observed them.
  const model = resource.model as ContainerGroup
  const observed = resource.observed as Observed | undefined
  const state = groupStateOf(model, observed)
  switch (state) {
    case 'Running':
      return { state: 'Available', summary: 'The containers of the group run.' }
    case 'Succeeded':
      return { state: 'Available', summary: 'The containers of the group ran to their end.' }
    case 'Stopped':
      return {
        state: 'Unavailable',
        reasonType: 'UserInitiated',
        summary: 'The group was stopped by a user.',
      }
    case 'Failed':
      return {
        state: 'Unavailable',
        reasonType: 'Unplanned',
        summary: 'A container of the group failed, or could not be started.',
      }
    case 'Pending':
      return resource.state === 'Failed'
        ? {
            state: 'Unavailable',
            reasonType: 'Unplanned',
            summary: 'The group could not be made.',
          }
        : { state: 'Unknown', summary: 'The group is being made.' }
  }
}
