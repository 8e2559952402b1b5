/** The revisions of an API, as a list: the current one, and those that are named after it with their number. */

import Type from 'typebox'
import type { FieldMap } from '#kernel/filter/field-map.ts'
import { filterOf } from '#kernel/filter/filter-of.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { countedQuery, skipOf } from '../../domain/counted-list.ts'
import { revisionOf } from '../../domain/names.ts'
import { currentRevisionOf, revisionsAfter } from '../../domain/revisions.ts'
import { definitionDates } from '../../published-versions.ts'
import type { Api } from '../apis/model.ts'

const text = Type.Optional(Type.String())
const answer = Type.Object({
  apiId: Type.String(),
  apiRevision: Type.String(),
  createdDateTime: text,
  updatedDateTime: text,
  description: text,
  privateUrl: Type.String(),
  isOnline: Type.Boolean(),
  isCurrent: Type.Boolean(),
})

type Revision = Type.Static<typeof answer>

const string = (read: (revision: Revision) => string | undefined) =>
  ({ type: 'string', read }) as const

const fields: FieldMap<Revision> = {
  fields: {
    apiId: string((one) => one.apiId),
    apiRevision: string((one) => one.apiRevision),
    description: string((one) => one.description),
    isCurrent: { type: 'boolean', read: (one) => one.isCurrent },
  },
  lenient: true,
}

export function revisions(): ResourceType {
  const type = 'ApiManagement/service/apis'
  return defineComputed({
    type: `${type}/revisions`,
    description: 'The revisions of an API.',
    scope: 'resource-group',
    apiVersions: definitionDates,
    bare: true,
    query: countedQuery,
    answer,
    source: {
      async list({ reader, parent, query, cursor, limit, signal }) {
        const matches = filterOf(query.get('$filter'), fields)
        let skip = cursor === undefined ? skipOf(query) : 0
        const found: Revision[] = []
        let last: string | undefined
        for await (const row of revisionsAfter(reader, type, currentRevisionOf(parent), cursor)) {
          signal?.throwIfAborted()
          const revision = show(row)
          await freeTurn()
          if (!matches(revision) || skip-- > 0) continue
          if (found.length === limit) return { items: found, ...(last && { next: last }) }
          found.push(revision)
          last = row.id.key
        }
        return { items: found }
      },
    },
  })
}

function show({ id, model, systemData: { createdAt, lastModifiedAt } }: Resource): Revision {
  // Rows of this type were made by its `toModel`.
  const { apiRevision, apiRevisionDescription, path } = model as Api
  const isCurrent = revisionOf(id) === undefined
  const name = nameOf(id)
  return {
    apiId: `/apis/${isCurrent ? `${name};rev=${apiRevision}` : name}`,
    apiRevision,
    ...(createdAt === undefined ? {} : { createdDateTime: createdAt }),
    ...(lastModifiedAt === undefined ? {} : { updatedDateTime: lastModifiedAt }),
    ...(apiRevisionDescription === undefined ? {} : { description: apiRevisionDescription }),
    privateUrl: `/${path.replace(/^\//, '')}${isCurrent ? '' : `;rev=${apiRevision}`}`,
    isOnline: true,
    isCurrent,
  }
}
