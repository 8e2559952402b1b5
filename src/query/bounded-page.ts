/**
 * A page of what a filter lets through, of a bounded number of rows: when the budget is used up the page comes back
 * short, with a cursor that goes on behind the last row looked at.
 */

import type { Cursor, Stretch } from './keyset-page.ts'

interface Page<T> {
  readonly items: readonly T[]
  /** Undefined when nothing is behind the page. */
  readonly next: Cursor | undefined
}

interface PageRequest<R, T> {
  readonly after: Cursor | undefined
  readonly pageSize: number
  /** Rows that are read for one page, at the most. */
  readonly rowsMax: number
  /** How often the store is asked, at the most, where rows do not tell how much it looked at. */
  readonly readsMax?: number
  /** Rows to read at once when so many items are missing; a filter may leave out most of them. */
  rowsAtOnce(missing: number): number
  /** At most `limit` rows behind the cursor; fewer, with an `end`, when it looked at as many as it may. */
  read(after: Cursor | undefined, limit: number): Promise<Stretch<R>>
  cursorOf(row: R): Cursor
  /** What each row shows, undefined where the filter leaves it out. */
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
      // One more than the page has: something is behind it.
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
