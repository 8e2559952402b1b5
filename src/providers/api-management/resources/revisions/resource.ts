/** The revisions of an API, as a list: the current one, and those that are named after it with their number. */

import Type from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { revisionOf } from '../../domain/names.ts'
import { currentRevisionOf, markOfRevisions, numberedRevisions } from '../../domain/revisions.ts'
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

export function revisions(): ResourceType {
  const type = 'ApiManagement/service/apis'
  return defineComputed({
    type: `${type}/revisions`,
    description: 'The revisions of an API.',
    scope: 'resource-group',
    apiVersions: definitionDates,
    bare: true,
    answer,
    source: {
      async list({ reader, parent, cursor, limit }) {
        const current = currentRevisionOf(parent)
        const first = cursor === undefined ? await reader.get(current) : undefined
        const mark = markOfRevisions(current)
        const others = await numberedRevisions(reader, type, current, {
          after: cursor ?? mark,
          limit: limit + 1 - (first === undefined ? 0 : 1),
        })
        const found = [...(first === undefined ? [] : [first]), ...others]
        const items = found.slice(0, limit)
        const last = items.at(-1)
        return {
          items: items.map(show),
          ...(found.length > limit && last !== undefined
            ? { next: last === first ? mark : last.id.key }
            : {}),
        }
      },
    },
  })
}

function show({ id, model, systemData: { createdAt, lastModifiedAt } }: Resource): object {
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
