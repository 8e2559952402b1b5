/** Workspaces of a service, which hold APIs of their own. */

import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { idRule } from '../../domain/names.ts'
import { workspaceDates } from '../../published-versions.ts'
import type { Workspace } from './model.ts'
import { workspace } from './versions/2024-05-01.ts'

const type = 'ApiManagement/service/workspaces'
type Stored = Resource<Workspace>

export function workspaces(): ResourceType {
  return defineStored<Workspace>({
    type,
    description: 'A part of a service with APIs of its own.',
    scope: 'resource-group',
    query: countedQuery,
    name: idRule(80),
    movable: true,
    versions: workspaceDates.map(workspace),
    protocol: { headStatus: 200, ifMatchRequired: ['patch', 'delete'] },
    list: {
      page: countedList<Workspace>(type, {
        name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
        displayName: { type: 'string', read: ({ model }) => model.displayName },
        description: { type: 'string', read: ({ model }) => model.description },
      }),
    },
    sample: {
      name: (seed) => `team-${seed}`,
      body: () => ({ properties: { displayName: 'Team' } }),
      changed: () => ({ properties: { displayName: 'Team', description: 'Of pets.' } }),
    },
  })
}
