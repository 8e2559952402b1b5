/** The products that offer an API, as a list. Links are below products, so this looks at all of the service. */

import type { FieldMap } from '#kernel/filter/field-map.ts'
import { filterOf } from '#kernel/filter/filter-of.ts'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { countedQuery, skipOf } from '../../domain/counted-list.ts'
import { definitionDates } from '../../published-versions.ts'
import type { Definition } from '../definitions/model.ts'
import { definition } from '../definitions/versions/2021-08-01.ts'
import { isLinkTo } from '../links/model.ts'

/** As many links of a service as are looked through. */
const linksMax = 5000

const fields: FieldMap<Resource> = {
  fields: {
    name: { type: 'string', read: ({ id }) => nameOf(id) },
    displayName: { type: 'string', read: ({ model }) => textOf(model, 'displayName') },
    description: { type: 'string', read: ({ model }) => textOf(model, 'description') },
  },
  lenient: true,
  optionalPrefix: 'properties',
}

function textOf(model: unknown, name: string): string | undefined {
  // A row of that type, made by its `toModel`.
  const value = (model as Definition)[name]
  return typeof value === 'string' ? value : undefined
}

export function apiProducts(): ResourceType {
  const product = definition('products', definitionDates[0] ?? '')
  return defineComputed({
    type: 'ApiManagement/service/apis/products',
    description: 'The products that offer an API.',
    scope: 'resource-group',
    apiVersions: definitionDates,
    query: countedQuery,
    answer: product.answer,
    source: {
      async list({ reader, parent, words, may, query, cursor, limit }) {
        const matches = filterOf(query.get('$filter'), fields)
        let skip = cursor === undefined ? skipOf(query) : 0
        const api = await reader.get(parent)
        if (api === undefined) return { items: [] }
        const type = 'ApiManagement/service/products/apis'
        const own = nameOf(parent).toLowerCase()
        const found: Resource[] = []
        for await (const link of reader.each({ type, under: parentOf(parent), limit: linksMax })) {
          if (nameOf(link.id).toLowerCase() !== own || !isLinkTo(link, api)) continue
          const at = parentOf(link.id)
          if (cursor !== undefined && at.key <= cursor) continue
          const row = await reader.get(at)
          if (row === undefined) continue
          if (!(await may('ApiManagement/service/products/read', row.id))) continue
          await freeTurn()
          if (!matches(row) || skip-- > 0) continue
          found.push(row)
          if (found.length > limit) break
        }
        const items = found.slice(0, limit)
        const last = items.at(-1)
        return {
          items: items.map((row) => ({
            id: row.id.text,
            name: nameOf(row.id),
            type: qualify(words, 'ApiManagement/service/products'),
            // A row of that type, made by its `toModel`.
            ...product.fromModel(row.model as Definition, { ...row, words }),
          })),
          ...(found.length > limit && last !== undefined ? { next: last.id.key } : {}),
        }
      },
    },
  })
}
