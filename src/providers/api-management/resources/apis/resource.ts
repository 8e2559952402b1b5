/** APIs of a service or of a workspace. They are definitions: nothing answers at their paths. */

import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { countedList } from '../../domain/counted-list.ts'
import { idRule, revisionOf } from '../../domain/names.ts'
import { allDates, workspaceDates } from '../../published-versions.ts'
import type { Api } from './model.ts'
import { api } from './versions/2016-07-07.ts'

type Stored = Resource<Api>

export function apis(): readonly ResourceType[] {
  return [
    apiType('ApiManagement/service/apis', allDates),
    apiType('ApiManagement/service/workspaces/apis', workspaceDates),
  ]
}

function apiType(type: string, dates: readonly string[]): ResourceType {
  return defineStored<Api>({
    type,
    description: 'An API: its path, its backend, its revision, and the operations below it.',
    scope: 'resource-group',
    name: idRule(256),
    movable: true,
    versions: dates.map(api),
    protocol: { headStatus: 200, ifMatchRequired: ['patch'], anyMatchCreates: true },
    rules: ({ id, desired }) => {
      const named = revisionOf(id)
      return named === undefined || named === desired.apiRevision
        ? []
        : [
            {
              path: 'properties.apiRevision',
              message: `contradicts the name, which says revision '${named}'`,
            },
          ]
    },
    list: {
      page: countedList<Api>(type, {
        name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
        displayName: { type: 'string', read: ({ id, model }) => model.displayName ?? nameOf(id) },
        description: { type: 'string', read: ({ model }) => model.description },
        serviceUrl: { type: 'string', read: ({ model }) => model.serviceUrl },
        path: { type: 'string', read: ({ model }) => model.path },
        isCurrent: { type: 'boolean', read: ({ id }) => revisionOf(id) === undefined },
      }),
    },
    sample: {
      name: (seed) => `pets-${seed}`,
      body: (seed) => ({
        properties: { displayName: 'Pets', path: `pets-${seed}`, protocols: ['https'] },
      }),
      changed: (seed) => ({
        properties: { displayName: 'Animals', path: `pets-${seed}`, protocols: ['https'] },
      }),
    },
  })
}
