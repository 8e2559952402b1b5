/** Operations of an API: method and URL template, what they take, and what they answer. */

import { hash } from 'node:crypto'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { Version } from '#plane/declare/wire.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { idRule } from '../../domain/names.ts'
import { refuseFields } from '../../errors.ts'
import { allDates, workspaceDates } from '../../published-versions.ts'
import type { Operation } from './model.ts'
import { sample } from './sample.ts'
import { flat } from './versions/2016-07-07.ts'
import { wrapped } from './versions/2019-12-01.ts'
import { exampled } from './versions/2024-05-01.ts'

type Stored = Resource<Operation>

export function operations(): readonly ResourceType[] {
  return [
    operationType('ApiManagement/service/apis/operations', allDates),
    operationType('ApiManagement/service/workspaces/apis/operations', workspaceDates),
  ]
}

/** The shape of a version; decision 0016 covers the versions that the contract does not show. */
export function shapeOf(date: string): Version<Operation> {
  if (date < '2017') return flat(date)
  return date < '2024-05-01' ? wrapped(date) : exampled(date)
}

function operationType(type: string, dates: readonly string[]): ResourceType {
  return defineStored<Operation>({
    type,
    description:
      'One operation of an API: method, URL template, parameters, request and responses.',
    scope: 'resource-group',
    query: countedQuery,
    name: idRule(256),
    movable: true,
    versions: dates.map(shapeOf),
    protocol: {
      headStatus: 200,
      ifMatchRequired: ['patch', 'delete'],
      anyMatchCreates: true,
    },
    unique: {
      isUniqueBelow: true,
      // A hash, since an index cannot hold a template of a thousand characters.
      key: (id, { method, urlTemplate }) =>
        `api-operation|${hash('sha256', JSON.stringify([parentOf(id).key, method.toUpperCase(), urlTemplate]))}`,
      refuse: (_id, existing) =>
        refuseFields([
          {
            path: 'urlTemplate',
            message: `an operation of this API has the same method and URL template already${existing === undefined ? '' : `: '${nameOf(existing)}'`}`,
          },
        ]),
    },
    list: {
      page: countedList<Operation>(type, {
        name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
        displayName: { type: 'string', read: ({ id, model }) => model.displayName ?? nameOf(id) },
        description: { type: 'string', read: ({ model }) => model.description },
        method: { type: 'string', read: ({ model }) => model.method, ignoreCase: true },
        urlTemplate: { type: 'string', read: ({ model }) => model.urlTemplate },
      }),
    },
    sample,
  })
}
