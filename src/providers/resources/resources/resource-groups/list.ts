/** The groups of a subscription, also filtered by one tag (facts 9.8). */

import { type FieldMap, fieldsOfRows } from '#kernel/filter/field-map.ts'
import { filterOf } from '#kernel/filter/filter-of.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { scanPage } from '../../domain/scan-page.ts'
import type { ResourceGroup } from './model.ts'

type Group = Resource<ResourceGroup>

const fields: FieldMap<Group> = {
  fields: fieldsOfRows(
    { of: (group: Group) => Object.entries(group.tags ?? {}), together: true },
    {
      tagName: { type: 'string', read: ([name]: [string, string]) => name, ignoreCase: true },
      tagValue: { type: 'string', read: ([, value]: [string, string]) => value },
    },
  ),
  lenient: true,
}

const read = 'Resources/subscriptions/resourceGroups/read'

/** Who may not read all of them is shown those that a role of theirs reaches. */
export async function listGroups(
  context: ListContext,
  scanRowsMax: number,
): Promise<ListPage<Group>> {
  const all = await context.may(read, context.parent)
  const matches = filterOf(context.query.get('$filter'), fields)
  return scanPage<Group>({
    async read(after, limit) {
      const { items, ...rest } = await context.reader.page({
        type: 'Resources/subscriptions/resourceGroups',
        under: context.parent,
        after,
        limit,
      })
      // Rows of this type were made by its `toModel`.
      return { rows: items as readonly Group[], ...rest }
    },
    keyOf: (group) => group.id.key,
    accepts: (group) => matches(group) && (all || context.may(read, group.id)),
    limit: context.limit,
    cursor: context.cursor,
    scanRowsMax,
  })
}
