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
const revisionsAtOnceMax = 200

/** The current one, then the others in the order of keys. `after` is the key of one of them. */
export async function* revisionsAfter(
  reader: Reader,
  type: string,
  current: ResourceId,
  after: string | undefined,
): AsyncGenerator<Resource> {
  const first = after === undefined ? await reader.get(current) : undefined
  if (first !== undefined) yield first
  let last = after === undefined || after === current.key ? markOfRevisions(current) : after
  for (let seen = 0; seen < revisionsMax; seen += revisionsAtOnceMax) {
    const query = { after: last, limit: revisionsAtOnceMax }
    const rows = await numberedRevisions(reader, type, current, query)
    yield* rows
    const end = rows.at(-1)
    if (end === undefined) return
    last = end.id.key
  }
}

/** The numbered ones alone, however many there are. */
export async function* allNumberedRevisions(
  reader: Reader,
  type: string,
  current: ResourceId,
): AsyncGenerator<Resource> {
  let after: string | undefined
  do {
    const query = { limit: revisionsAtOnceMax, ...(after === undefined ? {} : { after }) }
    const rows = await numberedRevisions(reader, type, current, query)
    yield* rows
    after = rows.length < revisionsAtOnceMax ? undefined : rows.at(-1)?.id.key
  } while (after !== undefined)
}

/** Up to `limit` of the numbered ones, in the order of keys. */
async function numberedRevisions(
  reader: Reader,
  type: string,
  current: ResourceId,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly Resource[]> {
  const mark = markOfRevisions(current)
  const rows = await reader.list({ type, under: parentOf(current), after: after ?? mark, limit })
  return rows.filter(({ id }) => id.key.startsWith(mark))
}
