/**
 * Makes one page from a long range of rows of which only some are shown. It reads a bounded number of rows and may
 * come back short, with a cursor to continue from.
 */

import type { ListPage } from '#plane/declare/wire.ts'
import { freeTurn, nextTurn } from '#plane/next-turn.ts'

interface Scan<R> {
  /**
   * At most so many rows after a key, in key order; `next` is where to continue, absent at the end. `isShort`: a
   * byte limit ended the read, and so the page.
   */
  read(
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly R[]; readonly next?: string; readonly isShort?: true }>
  keyOf(row: R): string
  accepts(row: R): boolean | Promise<boolean>
  readonly limit: number
  readonly cursor: string | undefined
  readonly scanRowsMax: number
}

const rowsAtOnceMax = 500

export async function scanPage<R>(scan: Scan<R>): Promise<ListPage<R>> {
  const { limit } = scan
  const items: R[] = []
  let after = scan.cursor
  let budget = Math.max(scan.scanRowsMax, limit + 1)
  while (budget > 0) {
    const size = Math.min(budget, Math.max(limit + 1, 1), rowsAtOnceMax)
    const { rows, next, isShort } = await scan.read(after, size)
    budget -= size
    for (const row of rows) {
      // It may take long to decide on each.
      await freeTurn()
      if (await scan.accepts(row)) {
        // The first item that no longer fits shows that there is a next page.
        if (items.length === limit) return pageOf(items, after)
        items.push(row)
      }
      after = scan.keyOf(row)
    }
    if (next === undefined) return { items }
    after = next
    if (isShort === true) break
    // The server does other work between two pieces.
    await nextTurn()
  }
  return pageOf(items, after)
}

function pageOf<R>(items: readonly R[], after: string | undefined): ListPage<R> {
  return after === undefined ? { items } : { items, next: after }
}
