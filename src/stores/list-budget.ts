/** The limit of bytes for the documents of a list: the one rule of both stores and of all pages. */

import type { ListQuery, ResourceRow } from './store.ts'

/** Takes rows up to and including the one that reaches `bytesMax`. */
export function takeWithin(rows: Iterable<ResourceRow>, bytesMax: number): readonly ResourceRow[] {
  const taken: ResourceRow[] = []
  let bytes = 0
  for (const row of rows) {
    taken.push(row)
    bytes += Buffer.byteLength(row.document)
    if (bytes >= bytesMax) break
  }
  return taken
}

/** Whether the list ended at one of its limits, so that more rows may follow. */
export function isCut(
  rows: readonly Pick<ResourceRow, 'document'>[],
  { limit, bytesMax }: Pick<ListQuery, 'limit' | 'bytesMax'>,
): boolean {
  if (rows.length >= limit) return true
  if (bytesMax === undefined) return false
  let bytes = 0
  for (const { document } of rows) bytes += Buffer.byteLength(document)
  return bytes >= bytesMax
}
