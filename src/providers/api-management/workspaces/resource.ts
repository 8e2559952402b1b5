/** Workspaces of a service, which hold APIs of their own. */

import { nameOf } from '#kernel/resource-id.ts'
import { defineResource, type Resource, type ResourceType } from '#plane/define.ts'
import { countedList } from '../list.ts'
import { idRule } from '../names.ts'
import { workspaceDates } from '../versions.ts'
import type { Workspace } from './model.ts'
import { workspace } from './versions/2024-05-01.ts'

const type = 'ApiManagement/service/workspaces'
type Stored = Resource<Workspace>

export function workspaces(): ResourceType {
  return defineResource<Workspace>({
    type,
    description: 'A part of a service with APIs of its own.',
    scope: 'resource-group',
    tracked: false,
    name: idRule(80),
    versions: workspaceDates.map(workspace),
    headStatus: 200,
    ifMatchRequired: ['patch', 'delete'],
    list: countedList<Workspace>(type, {
      name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
      displayName: { type: 'string', read: ({ model }) => model.displayName },
      description: { type: 'string', read: ({ model }) => model.description },
    }),
    sample: {
      name: (seed) => `team-${seed}`,
      body: () => ({ properties: { displayName: 'Team' } }),
      changed: () => ({ properties: { displayName: 'Team', description: 'Of pets.' } }),
    },
  })
}
