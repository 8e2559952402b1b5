/** The revisions of an API: the current one has its plain name, the others a number after it. */

import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'

/** `pets` for `pets;rev=2` and for itself. */
export function currentRevisionOf(api: ResourceId): ResourceId {
  return childOf(parentOf(api), 'apis', nameOf(api).replace(/;rev=[^;]*$/i, ''))
}

/** What all numbered ones begin with; in the order of keys, they follow each other. */
export function markOfRevisions(current: ResourceId): string {
  return `${current.key};`
}

/** Up to `limit` of the numbered ones, in the order of keys. */
export async function numberedRevisions(
  reader: Reader,
  type: string,
  current: ResourceId,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly Resource[]> {
  const mark = markOfRevisions(current)
  const rows = await reader.list({ type, under: parentOf(current), after: after ?? mark, limit })
  return rows.filter(({ id }) => id.key.startsWith(mark))
}
