/** Operations of an API: what may be called, by method and URL template, with what and answering what. */

import { createHash } from 'node:crypto'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import { defineResource, type Resource, type ResourceType, type Version } from '#plane/define.ts'
import { refuseFields } from '../errors.ts'
import { countedList } from '../list.ts'
import { idRule } from '../names.ts'
import { allDates, workspaceDates } from '../versions.ts'
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

/** Which shape a date has; for the dates the contract is silent about, see decision 0016. */
export function shapeOf(date: string): Version<Operation> {
  if (date < '2017') return flat(date)
  return date < '2024-05-01' ? wrapped(date) : exampled(date)
}

function operationType(type: string, dates: readonly string[]): ResourceType {
  return defineResource<Operation>({
    type,
    description:
      'One operation of an API: method, URL template, parameters, request and responses.',
    scope: 'resource-group',
    tracked: false,
    name: idRule(256),
    versions: dates.map(shapeOf),
    headStatus: 200,
    ifMatchRequired: ['patch', 'delete'],
    // A hash, since an index holds no template of a thousand characters.
    uniqueKey: (id, { method, urlTemplate }) =>
      `api-operation|${createHash('sha256')
        .update(JSON.stringify([parentOf(id).key, method.toUpperCase(), urlTemplate]))
        .digest('hex')}`,
    uniqueRefusal: (_id, existing) =>
      refuseFields([
        {
          path: 'urlTemplate',
          message: `an operation of this API has the same method and URL template already${existing === undefined ? '' : `: '${nameOf(existing)}'`}`,
        },
      ]),
    list: countedList<Operation>(type, {
      name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
      displayName: { type: 'string', read: ({ id, model }) => model.displayName ?? nameOf(id) },
      description: { type: 'string', read: ({ model }) => model.description },
      method: { type: 'string', read: ({ model }) => model.method, ignoreCase: true },
      urlTemplate: { type: 'string', read: ({ model }) => model.urlTemplate },
    }),
    sample,
  })
}
