/** Lists of what is at a scope itself: a subscription's list does not include its groups'. */

import type { FieldMap } from '#kernel/filter/field-map.ts'
import { filterOf } from '#kernel/filter/filter-of.ts'
import { nameOf, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { scanPage } from './scan-page.ts'

const scanRowsMax = 5000

const fields: FieldMap<Resource> = {
  fields: {
    provisioningState: { type: 'string', read: (one) => one.state, ignoreCase: true },
    name: { type: 'string', read: (one) => nameOf(one.id), ignoreCase: true },
  },
}

/** The common prefix of the keys of all resources of this one's type and scope. */
export function siblingsOf(id: ResourceId): string {
  return id.key.slice(0, id.key.lastIndexOf('/'))
}

export function listAtScope<M>(type: string, context: ListContext): Promise<ListPage<Resource<M>>> {
  const { parent, words, limit, cursor } = context
  const matches = filterOf(context.query.get('$filter'), fields)
  const scope = parent.key === '/' ? '' : parent.key
  const under = `${scope}/providers/${qualify(words, type).toLowerCase()}`
  return scanPage<Resource<M>>({
    async read(after, limit) {
      const { items, ...rest } = await context.reader.page({ type, under, after, limit })
      // The type's `toModel` made the rows.
      return { rows: items as readonly Resource<M>[], ...rest }
    },
    keyOf: (one) => one.id.key,
    accepts: (one) => scopeOf(one.id).key === parent.key && matches(one),
    limit,
    cursor,
    scanRowsMax,
  })
}
