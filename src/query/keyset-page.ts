/**
 * Pages that go on behind a row: an order names its keys, a cursor holds the keys of the last row seen, and a page
 * costs the page however far into the list it is. Keys are never null, and the last one tells rows apart that are
 * alike in all others.
 */

import type { RawBuilder, SqlBool, Sql as SqlTag } from 'kysely'
import type { SqlRow } from '#stores/store.ts'
import type { Condition } from './predicate.ts'
import { type Composer, type Reader, readAll } from './statement.ts'

/** `text` is SQL out of our sources, as the index has it. */
export interface OrderKey {
  readonly type: 'text' | 'whole'
  readonly text: string
  readonly direction: 'asc' | 'desc'
}

export type Cursor = readonly (string | number)[]

/** Rows of one table, in an order. */
export interface KeysetRange {
  readonly table: string
  readonly where: readonly Condition[]
  readonly order: readonly OrderKey[]
  /** What is selected; all columns where left out. */
  readonly columns?: readonly string[]
  /** A row has few columns: a window of them is read whole, and no more of it than the page needs otherwise. */
  readonly isNarrow?: boolean
  /** The one key counts the rows of the range from 1, without a gap. */
  readonly isDense?: boolean
}

export interface Stretch<R = SqlRow> {
  readonly rows: readonly R[]
  /** Where it goes on; undefined when nothing is behind it. */
  readonly end: Cursor | undefined
}

/** The first `limit` rows behind a cursor. */
export async function readRange(
  composer: Composer,
  reader: Reader,
  range: KeysetRange,
  { after, limit }: PageBounds,
): Promise<Stretch> {
  const where = behindCursor(composer.sql, range, after)
  const rows = await readRows(composer, reader, { ...range, where }, { limit })
  return { rows, end: rows.length < limit ? undefined : lastCursor(range.order, rows) }
}

/**
 * The first `limit` rows that meet a condition, among `window` rows behind a cursor: what few rows meet costs the
 * window, not the list. The keys of the order have one direction.
 */
export async function readWindow(
  composer: Composer,
  reader: Reader,
  range: KeysetRange,
  options: Window,
): Promise<Stretch> {
  const { sql } = composer
  const { after, condition, window, limit } = options
  const where = behindCursor(sql, range, after)
  if (range.isNarrow === true) {
    const rows = await readAll(composer, reader, narrowWindow(sql, { ...range, where }, options))
    if (rows.length === limit) return { rows, end: lastCursor(range.order, rows) }
    return { rows, end: await edgeOf(composer, reader, { ...range, where }, { after, window }) }
  }
  const edge = await edgeOf(composer, reader, { ...range, where }, { after, window })
  const within = edge === undefined ? where : [...where, upTo(sql, range.order, edge)]
  const rows = await readRows(
    composer,
    reader,
    { ...range, where: [...within, condition] },
    { limit },
  )
  // As many as were asked for: there may be more in the window.
  return { rows, end: rows.length === limit ? lastCursor(range.order, rows) : edge }
}

function narrowWindow(
  sql: SqlTag,
  { table, where, order }: KeysetRange,
  { condition, window, limit }: Window,
): RawBuilder<unknown> {
  const sorted = orderBy(sql, order)
  const rows = sql`select * from ${sql.table(table)} where ${every(sql, where)} order by ${sorted} limit ${window}`
  return sql`select ${sql.join(keysOf(sql, order))} from (${rows}) as looked_at
    where ${condition} order by ${sorted} limit ${limit}`
}

/** Rows after a cursor, so many at the most. */
export interface PageBounds {
  readonly after?: Cursor | undefined
  readonly limit: number
}

interface Window extends PageBounds {
  readonly condition: Condition
  readonly window: number
}

/** The last row of the window; undefined when fewer are left. */
async function edgeOf(
  composer: Composer,
  reader: Reader,
  { table, where, order, isDense = false }: KeysetRange,
  { after, window }: { readonly after: Cursor | undefined; readonly window: number },
): Promise<Cursor | undefined> {
  const { sql } = composer
  const [first] = order
  const from = sql`select ${sql.join(keysOf(sql, order))} from ${sql.table(table)}`
  const statement =
    isDense && first !== undefined
      ? sql`${from} where ${every(sql, [...where, comparedKey(sql, first.text, '=', Number(after?.[0] ?? 0) + window)])}`
      : sql`${from} where ${every(sql, where)} order by ${orderBy(sql, order)} limit 1 offset ${window - 1}`
  const [row] = await readAll(composer, reader, statement)
  return row && cursorOf(order, row)
}

/** `sortedBy` where rows come in an order that is not the one their cursors have. */
export async function readRows(
  composer: Composer,
  reader: Reader,
  { table, where, order, columns }: KeysetRange,
  { limit, sortedBy = order }: { readonly limit: number; readonly sortedBy?: readonly OrderKey[] },
): Promise<readonly SqlRow[]> {
  const { sql } = composer
  const isWhole = columns === undefined
  const selected = isWhole ? [sql`*`] : columns.map((one) => sql.ref(one))
  return readAll(
    composer,
    reader,
    sql`select ${sql.join([...selected, ...keysOf(sql, order, isWhole)])} from ${sql.table(table)}
      where ${every(sql, where)} order by ${orderBy(sql, sortedBy)} limit ${limit}`,
  )
}

export function every(sql: SqlTag, conditions: readonly Condition[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

function orderBy(sql: SqlTag, order: readonly OrderKey[]): RawBuilder<unknown> {
  return sql.raw(order.map(({ text, direction }) => `${text} ${direction}`).join(', '))
}

/** Keys that are columns come with the row where it is selected whole. */
function keysOf(
  sql: SqlTag,
  order: readonly OrderKey[],
  isWhole = false,
): readonly RawBuilder<unknown>[] {
  return order.flatMap(({ text }, at) => {
    const name = keyName(text, at)
    return isWhole && name === text ? [] : [sql.raw(`${text} as ${name}`)]
  })
}

function keyName(text: string, at: number): string {
  return /^\w+$/.test(text) ? text : `key_${at}`
}

/** The keys of a row that was read in this order. */
export function cursorOf(order: readonly OrderKey[], row: SqlRow): Cursor {
  return order.map(({ type, text }, at) => {
    const value = row[keyName(text, at)]
    return type === 'whole' ? Number(value) : String(value)
  })
}

export function lastCursor(
  order: readonly OrderKey[],
  rows: readonly SqlRow[],
): Cursor | undefined {
  const last = rows.at(-1)
  return last && cursorOf(order, last)
}

function behindCursor(
  sql: SqlTag,
  { where, order }: KeysetRange,
  after: Cursor | undefined,
): readonly Condition[] {
  return after === undefined ? where : [...where, behind(sql, order, after)]
}

/** Rows behind a cursor. */
export function behind(sql: SqlTag, order: readonly OrderKey[], cursor: Cursor): Condition {
  const asRow = comparedAsRow(sql, order, cursor, { asc: '>', desc: '<' })
  if (asRow !== undefined) return asRow
  const alternatives = order.map((key, at) => {
    const alike = order.slice(0, at).map(({ text }, of) => comparedKey(sql, text, '=', cursor[of]))
    return sql`(${sql.join([...alike, comparedKey(sql, key.text, signOf(key), cursor[at])], sql` and `)})`
  })
  const [first] = order
  // The first bound says nothing new: it is where the index is entered.
  const bound = first && comparedKey(sql, first.text, `${signOf(first)}=`, cursor[0])
  return sql<SqlBool>`${bound ?? sql`1 = 1`} and (${sql.join(alternatives, sql` or `)})`
}

/** Rows up to a cursor, and its own. */
function upTo(sql: SqlTag, order: readonly OrderKey[], cursor: Cursor): Condition {
  const condition = comparedAsRow(sql, order, cursor, { asc: '<=', desc: '>=' })
  if (condition === undefined) throw new Error('the keys of a window have one direction')
  return condition
}

/** One comparison of rows, where an index is entered at once; undefined where directions are mixed. */
function comparedAsRow(
  sql: SqlTag,
  order: readonly OrderKey[],
  cursor: Cursor,
  signs: Readonly<Record<OrderKey['direction'], string>>,
): Condition | undefined {
  const [first] = order
  if (first === undefined || order.some(({ direction }) => direction !== first.direction)) {
    return undefined
  }
  const keys = order.map(({ text }) => text).join(', ')
  return sql<SqlBool>`(${sql.raw(keys)}) ${sql.raw(signs[first.direction])} (${sql.join([...cursor])})`
}

export function comparedKey(
  sql: SqlTag,
  text: string,
  sign: string,
  value: string | number | undefined,
): Condition {
  if (value === undefined) throw new Error('a cursor has a value for each key')
  return sql<SqlBool>`${sql.raw(text)} ${sql.raw(sign)} ${value}`
}

function signOf({ direction }: OrderKey): '<' | '>' {
  return direction === 'asc' ? '>' : '<'
}
