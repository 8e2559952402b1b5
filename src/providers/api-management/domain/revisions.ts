/** The revisions of an API: the current one has its plain name, the others a number after it. */

import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'

/** `pets` for `pets;rev=2` and for itself. */
export function currentRevisionOf(api: ResourceId): ResourceId {
  return childOf(parentOf(api), 'apis', nameOf(api).replace(/;rev=[^;]*$/i, ''))
}

/** What all numbered ones begin with; in the order of keys, they follow each other. */
function markOfRevisions(current: ResourceId): string {
  return `${current.key};`
}

/** As many as are looked through. */
const revisionsMax = 5000

/** The current one, then the others in the order of keys. `after` is the key of one of them. */
export async function* revisionsAfter(
  reader: Reader,
  type: string,
  current: ResourceId,
  after: string | undefined,
): AsyncGenerator<Resource> {
  const first = after === undefined ? await reader.get(current) : undefined
  if (first !== undefined) yield first
  const from = after === undefined || after === current.key ? markOfRevisions(current) : after
  yield* numberedRevisions(reader, type, current, { after: from, limit: revisionsMax })
}

/** The numbered ones alone, however many there are. */
export async function* allNumberedRevisions(
  reader: Reader,
  type: string,
  current: ResourceId,
): AsyncGenerator<Resource> {
  yield* numberedRevisions(reader, type, current, { after: markOfRevisions(current) })
}

/** In the order of keys, one by one: each may have megabytes. */
async function* numberedRevisions(
  reader: Reader,
  type: string,
  current: ResourceId,
  from: { readonly after: string; readonly limit?: number },
): AsyncGenerator<Resource> {
  const mark = markOfRevisions(current)
  for await (const row of reader.each({ type, under: parentOf(current), ...from })) {
    if (!row.id.key.startsWith(mark)) return
    yield row
  }
}
