/**
 * A page in an order of several keys, each with its own index but no common one. Rows that are equal in the first
 * key form a group, and the other keys order it. Small groups are sorted; large ones are read along the index of
 * the next key.
 */

import type { Sql, SqlRow } from '#stores/store.ts'
import {
  afterCursor,
  type Cursor,
  comparedKey,
  conjunction,
  type KeysetRange,
  lastCursor,
  type OrderKey,
  type PageBounds,
  type RangeRows,
  readRows,
} from './keyset-page.ts'
import type { Condition } from './predicate.ts'
import { type Composer, type Reader, readAll } from './statement.ts'

/** For larger groups, reading along an index and skipping other groups costs less than sorting. */
const sortedMax = 2000

/** The last key is unique. */
export async function readPartialOrder(
  composer: Composer,
  reader: Reader,
  range: KeysetRange,
  { after, limit }: PageBounds,
): Promise<RangeRows> {
  const { sql } = composer
  const found = await page(range.order, after, limit, [])
  return { rows: found, end: found.length < limit ? undefined : lastCursor(range.order, found) }

  async function page(
    order: readonly OrderKey[],
    from: Cursor | undefined,
    most: number,
    fixed: readonly Condition[],
  ): Promise<readonly SqlRow[]> {
    const [first, ...rest] = order
    if (first === undefined) return []
    if (rest.length === 1) {
      return rows(
        order,
        from === undefined ? fixed : [...fixed, afterCursor(sql, order, from)],
        most,
      )
    }
    const found: SqlRow[] = []
    const past: Condition[] = [...fixed]
    const value = from?.[0]
    if (from !== undefined && value !== undefined) {
      found.push(...(await group({ first, value, rest }, { from: from.slice(1), most }, fixed)))
      past.push(comparedKey(sql, first.text, first.direction === 'asc' ? '>' : '<', value))
    }
    const left = most - found.length
    if (left === 0) return found
    // The first key alone quickly tells which groups are on the page. Only the last group may exceed it.
    const ending = await lastHead(first, rest, past, left)
    if (ending === undefined) {
      found.push(...(await rows(order.map(withoutIndex), past, left)))
      return found
    }
    const whole = comparedKey(sql, first.text, first.direction === 'asc' ? '<' : '>', ending)
    found.push(...(await rows(order.map(withoutIndex), [...past, whole], left)))
    found.push(
      ...(await group({ first, value: ending, rest }, { most: most - found.length }, fixed)),
    )
    return found
  }

  /** The rows with one value of the first key, ordered by the other keys. */
  async function group(
    {
      first,
      value,
      rest,
    }: {
      readonly first: OrderKey
      readonly value: string | number
      readonly rest: readonly OrderKey[]
    },
    { from, most }: { readonly from?: Cursor | undefined; readonly most: number },
    fixed: readonly Condition[],
  ): Promise<readonly SqlRow[]> {
    const own = [...fixed, comparedKey(sql, first.text, '=', value)]
    if (await isLarge(own)) {
      const unindexed = comparedKey(sql, withoutIndex(first).text, '=', value)
      return page(rest, from, most, [...fixed, unindexed])
    }
    const sorted = rest.map(withoutIndex)
    return rows(sorted, from === undefined ? own : [...own, afterCursor(sql, sorted, from)], most)
  }

  async function isLarge(own: readonly Condition[]): Promise<boolean> {
    const counted = await readAll(
      composer,
      reader,
      sql`select 1 as one from ${sql.table(range.table)}
        where ${conjunction(sql, [...range.where, ...own])} limit ${sortedMax + 1}`,
    )
    return counted.length > sortedMax
  }

  /** The first key's value in the last of so many rows; undefined when there are fewer. */
  async function lastHead(
    first: OrderKey,
    rest: readonly OrderKey[],
    past: readonly Condition[],
    count: number,
  ): Promise<string | number | undefined> {
    const alongIndex = [first, { ...lastOf(rest), direction: first.direction }]
    const heads = await readRows(
      composer,
      reader,
      { ...range, where: [...range.where, ...past], order: [first], columns: [] },
      { limit: count, sortedBy: alongIndex },
    )
    return heads.length < count ? undefined : lastCursor([first], heads)?.[0]
  }

  function rows(
    order: readonly OrderKey[],
    bounds: readonly Condition[],
    most: number,
  ): Promise<readonly SqlRow[]> {
    return readRows(
      composer,
      reader,
      { ...range, where: [...range.where, ...bounds] },
      { limit: most, sortedBy: order },
    )
  }
}

/** The same value in a form that no index matches. */
function withoutIndex(key: OrderKey): OrderKey {
  return { ...key, text: key.type === 'whole' ? `(${key.text} + 0)` : `(${key.text} || '')` }
}

function lastOf(order: readonly OrderKey[]): OrderKey {
  const last = order.at(-1)
  if (last === undefined) throw new Error('an order ends with the key that tells rows apart')
  return last
}

/**
 * Tells PostgreSQL to use indexes. It has no statistics of rows that were just written and would sort all of them
 * although an index is in order. Statements that must sort then look so expensive that it would compile them, so
 * that is turned off too.
 */
export function preferIndexes<T>(sql: Sql, work: (reader: Reader) => Promise<T>): Promise<T> {
  if (sql.dialect === 'sqlite') return work(sql)
  return sql.transact(async (tx) => {
    await tx.all(
      `select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
        set_config('jit', 'off', true)`,
    )
    return work(tx)
  })
}
