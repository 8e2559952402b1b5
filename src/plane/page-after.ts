/** One page of the resources of a type, for lists that show all of them. */

import type { Resource } from './declare/resource.ts'
import type { ListContext, ListPage } from './declare/wire.ts'

/** In id order, after the cursor. Reads one row more, to know whether there is a next page. */
export async function pageAfter(
  { reader, parent, cursor, limit }: ListContext,
  type: string,
): Promise<ListPage<Resource>> {
  const page = await reader.page({ type, under: parent, after: cursor, limit: limit + 1 })
  const items = page.items.slice(0, limit)
  const last = items.at(-1)
  return page.next === undefined && page.items.length <= limit
    ? { items }
    : { items, ...(last === undefined ? {} : { next: last.id.key }) }
}
