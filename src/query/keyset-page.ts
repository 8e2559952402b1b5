/**
 * Keyset pages. An order names its keys, a cursor holds the keys of the last row, and a page costs the same however
 * far into the list it is. Keys are never null, and the last key is unique among rows that are equal in all others.
 */

import type { RawBuilder, SqlBool, Sql as SqlTag } from 'kysely'
import type { SqlRow } from '#stores/store.ts'
import type { Condition } from './predicate.ts'
import { type Composer, type Reader, readAll } from './statement.ts'

/** `text` is SQL from our own sources, exactly as in the index. */
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
  /** The selected columns; all when left out. */
  readonly columns?: readonly string[]
  /** Rows have few columns, so a window of them is read whole. Otherwise only the rows of the page are. */
  readonly isNarrow?: boolean
  /** The single key numbers the rows of the range from 1, without gaps. */
  readonly isDense?: boolean
}

export interface RangeRows<R = SqlRow> {
  readonly rows: readonly R[]
  /** The cursor to continue from; undefined when nothing follows. */
  readonly end: Cursor | undefined
}

/** The first `limit` rows after a cursor. */
export async function readRange(
  composer: Composer,
  reader: Reader,
  range: KeysetRange,
  { after, limit }: PageBounds,
): Promise<RangeRows> {
  const where = behindCursor(composer.sql, range, after)
  const rows = await readRows(composer, reader, { ...range, where }, { limit })
  return { rows, end: rows.length < limit ? undefined : lastCursor(range.order, rows) }
}

/**
 * The first `limit` rows that meet a condition, among `window` rows after a cursor. A condition that few rows meet
 * costs the window, not the whole list. All keys of the order have the same direction.
 */
export async function readWindow(
  composer: Composer,
  reader: Reader,
  range: KeysetRange,
  options: Window,
): Promise<RangeRows> {
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
  // As many as requested: the window may hold more.
  return { rows, end: rows.length === limit ? lastCursor(range.order, rows) : edge }
}

function narrowWindow(
  sql: SqlTag,
  { table, where, order }: KeysetRange,
  { condition, window, limit }: Window,
): RawBuilder<unknown> {
  const sorted = orderBy(sql, order)
  const rows = sql`select * from ${sql.table(table)} where ${conjunction(sql, where)} order by ${sorted} limit ${window}`
  return sql`select ${sql.join(keysOf(sql, order))} from (${rows}) as looked_at
    where ${condition} order by ${sorted} limit ${limit}`
}

/** At most so many rows after a cursor. */
export interface PageBounds {
  readonly after?: Cursor | undefined
  readonly limit: number
}

interface Window extends PageBounds {
  readonly condition: Condition
  readonly window: number
}

/** The last row of the window; undefined when fewer rows are left. */
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
      ? sql`${from} where ${conjunction(sql, [...where, comparedKey(sql, first.text, '=', Number(after?.[0] ?? 0) + window)])}`
      : sql`${from} where ${conjunction(sql, where)} order by ${orderBy(sql, order)} limit 1 offset ${window - 1}`
  const [row] = await readAll(composer, reader, statement)
  return row && cursorOf(order, row)
}

/** `sortedBy` is the order of the result, where it differs from the order of the cursors. */
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
      where ${conjunction(sql, where)} order by ${orderBy(sql, sortedBy)} limit ${limit}`,
  )
}

export function conjunction(sql: SqlTag, conditions: readonly Condition[]): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

function orderBy(sql: SqlTag, order: readonly OrderKey[]): RawBuilder<unknown> {
  return sql.raw(order.map(({ text, direction }) => `${text} ${direction}`).join(', '))
}

/** A key that is a column needs no extra selection when the whole row is selected. */
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
  return after === undefined ? where : [...where, afterCursor(sql, order, after)]
}

/** The condition for rows after a cursor. */
export function afterCursor(sql: SqlTag, order: readonly OrderKey[], cursor: Cursor): Condition {
  const asRow = comparedAsRow(sql, order, cursor, { asc: '>', desc: '<' })
  if (asRow !== undefined) return asRow
  const alternatives = order.map((key, at) => {
    const alike = order.slice(0, at).map(({ text }, of) => comparedKey(sql, text, '=', cursor[of]))
    return sql`(${sql.join([...alike, comparedKey(sql, key.text, signOf(key), cursor[at])], sql` and `)})`
  })
  const [first] = order
  // The first bound is redundant, but the database uses it to enter the index.
  const bound = first && comparedKey(sql, first.text, `${signOf(first)}=`, cursor[0])
  return sql<SqlBool>`${bound ?? sql`1 = 1`} and (${sql.join(alternatives, sql` or `)})`
}

/** The condition for rows up to a cursor, its own row included. */
function upTo(sql: SqlTag, order: readonly OrderKey[], cursor: Cursor): Condition {
  const condition = comparedAsRow(sql, order, cursor, { asc: '<=', desc: '>=' })
  if (condition === undefined) throw new Error('the keys of a window have one direction')
  return condition
}

/** A row comparison, with which the database enters an index directly; undefined for mixed directions. */
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
