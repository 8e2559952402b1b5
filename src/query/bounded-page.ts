/**
 * Reads a page of filtered rows within a budget. When the budget is used up, the page comes back short with a
 * cursor that continues after the last row read.
 */

import type { Cursor, RangeRows } from './keyset-page.ts'

interface Page<T> {
  readonly items: readonly T[]
  /** Undefined when nothing follows the page. */
  readonly next: Cursor | undefined
}

interface PageRequest<R, T> {
  readonly after: Cursor | undefined
  readonly pageSize: number
  /** The largest number of rows read for one page. */
  readonly rowsMax: number
  /** The largest number of reads, where rows do not tell how many rows the store looked at. */
  readonly readsMax?: number
  /** The number of rows to read at once when so many items are missing; a filter may drop most of them. */
  rowsAtOnce(missing: number): number
  /**
   * Reads at most `limit` rows after the cursor. It may return fewer, with an `end`, when it has looked at as many
   * as allowed.
   */
  read(after: Cursor | undefined, limit: number): Promise<RangeRows<R>>
  cursorOf(row: R): Cursor
  /** The item of each row; undefined where the filter drops it. */
  show(rows: readonly R[]): readonly (T | undefined)[] | Promise<readonly (T | undefined)[]>
}

export async function boundedPage<R, T>(request: PageRequest<R, T>): Promise<Page<T>> {
  const { after, pageSize, rowsMax, readsMax, rowsAtOnce, read, cursorOf, show } = request
  const items: T[] = []
  let cursor = after
  for (let rowsRead = 0, reads = 1; ; reads++) {
    const limit = Math.min(rowsAtOnce(pageSize - items.length + 1), rowsMax - rowsRead)
    const { rows, end } = await read(cursor, limit)
    const shown = await show(rows)
    let previous: R | undefined
    for (const [at, row] of rows.entries()) {
      const item = shown[at]
      // One more item than the page holds: something follows.
      if (item !== undefined && items.length === pageSize) {
        return { items, next: previous === undefined ? cursor : cursorOf(previous) }
      }
      if (item !== undefined) items.push(item)
      previous = row
    }
    rowsRead += rows.length
    if (end === undefined) return { items, next: undefined }
    cursor = end
    if (rows.length === 0 || rowsRead >= rowsMax || reads === readsMax) {
      return { items, next: cursor }
    }
  }
}
