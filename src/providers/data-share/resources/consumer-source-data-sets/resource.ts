/** Data sets of a share as its consumer finds them: by their ids, without a right on the provider's side. */

import Type from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { type ShareDependencies, types, version } from '../../dependencies.ts'
import { resolveKind, shownPath } from '../../domain/kinds.ts'
import { grantedShare } from '../../domain/share-of.ts'
import type { DataSet } from '../data-sets/resource.ts'

const text = Type.String()
const answer = Type.Object({
  properties: Type.Object({
    dataSetId: text,
    dataSetLocation: text,
    dataSetName: text,
    dataSetPath: Type.Optional(text),
    dataSetType: text,
  }),
})

const dataSetsMax = 200_000

export async function findDataSet(
  reader: Reader,
  shareKey: string,
  dataSetId: string,
): Promise<Resource<DataSet> | undefined> {
  const query = { type: types.dataSets, under: shareKey, limit: dataSetsMax }
  // Rows of this type hold this model.
  for await (const row of reader.each(query) as AsyncIterable<Resource<DataSet>>) {
    if (row.model.dataSetId === dataSetId.toLowerCase()) return row
  }
  return undefined
}

export function consumerSourceDataSets(
  deps: Pick<ShareDependencies, 'grants' | 'reader' | 'words' | 'clock'>,
): ResourceType {
  return defineComputed({
    type: types.sources,
    description: 'What there is in a share, as its consumer sees it.',
    scope: 'resource-group',
    apiVersions: [version],
    answer: added(answer),
    source: {
      async list({ parent, cursor, limit }) {
        const grant = await deps.grants.grantAt(parent.key)
        const share = grant && (await grantedShare(deps, grant))
        if (grant === undefined || share === undefined) return { items: [] }
        const { items: rows, next } = await deps.reader.page({
          type: types.dataSets,
          under: share.id,
          after: cursor,
          limit: limit + 1,
        })
        const shown = rows.slice(0, limit)
        const last = shown.at(-1)
        return {
          items: shown.map(({ id, model, systemData }) => {
            // Rows of this type hold this model.
            const { kind, dataSetId, properties } = model as DataSet
            const path = shownPath(resolveKind(kind, properties, deps.words))
            return {
              id: `${parent.text}/consumerSourceDataSets/${nameOf(id)}`,
              name: nameOf(id),
              type: qualify(deps.words, types.sources),
              properties: {
                dataSetId,
                dataSetLocation: grant.card.location,
                dataSetName: nameOf(id),
                ...(path === undefined ? {} : { dataSetPath: path }),
                dataSetType: kind,
              },
              systemData,
            }
          }),
          ...(next !== undefined && last !== undefined ? { next: last.id.key } : {}),
        }
      },
    },
  })
}
