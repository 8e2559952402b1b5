/**
 * Reads one range of a statement in the order of one index, from an entry on, over a bounded number of rows.
 * `pages.ts` decides which ranges a query needs.
 */

import { memberName } from '#query/table.ts'
import type { Sql, SqlRow, SqlValue } from '#stores/store.ts'
import { number } from '../cells.ts'
import { indexOf, isByParts, orderedColumns } from '../migrations.ts'
import { columnsOf, entries } from '../tables.ts'
import type { Row } from './entry.ts'
import { type Condition, noRow } from './query.ts'

export const entryColumns = columnsOf(entries)
export const rowOf = entries.row

/** The order of an index: one column, ties by id, both in one direction. */
export interface IndexOrder {
  readonly column: string
  readonly descending: boolean
  /** The entries with a value, or those without. */
  readonly part: 'values' | 'nulls'
}

export interface IndexRange {
  readonly statementId: number
  /** The part of the statement's index; undefined when the index has no parts. */
  readonly part: number | undefined
  /** Only entries of these dimensions, by the index of dimensions, which orders them by date. */
  readonly byDimension?: readonly number[]
  /** Only entries of these dimensions, by any index. */
  readonly dimensionIds?: readonly number[]
  readonly conditions: readonly Condition[]
  readonly order: IndexOrder
  /** The columns that are read, `id` included; all when left out. */
  readonly columns?: readonly string[]
}

/** Several dimensions are selected: the index orders each of them by itself, not all together. */
export function isPicked({ byDimension }: IndexRange): boolean {
  return byDimension !== undefined && byDimension.length > 1
}

/** The parts of an index that has this order, for a statement with so many entries. */
export function partsOf(
  order: IndexOrder,
  entries: number,
  partRows: number,
): readonly (number | undefined)[] {
  if (isInOrderOfIds(order) || !isByParts(order.column)) return [undefined]
  return Array.from({ length: Math.ceil(entries / partRows) }, (_, part) => part)
}

/** Entries without a value are not in the index of a column that rarely has one. */
function isInOrderOfIds({ column, part }: IndexOrder): boolean {
  return part === 'nulls' && orderedColumns[column] === 'rare'
}

/** The position of an entry in an order. */
export interface Position {
  readonly value: SqlValue
  readonly id: number
}

interface ScanBounds {
  /** The largest number of returned rows. */
  readonly limit: number
  /** The largest number of rows read. */
  readonly scanRowsMax: number
}

interface Scanned {
  readonly rows: readonly Row[]
  /** Everything up to here was read; undefined at the end of the range. */
  readonly horizon: Position | undefined
}

/** The first `limit` entries after a position that meet the conditions, in the order of the range. */
export async function scan(
  sql: Sql,
  indexRange: IndexRange,
  after: Position | undefined,
  { limit, scanRowsMax }: ScanBounds,
): Promise<Scanned> {
  const { order } = indexRange
  if (after === undefined) return scanRange(sql, indexRange, none, { limit, scanRowsMax })
  // Two ranges: no index serves `(column, id) > (?, ?)` as one.
  const ties = await scanAlike(sql, indexRange, after, { limit, scanRowsMax })
  if (ties.horizon !== undefined || order.part === 'nulls') return ties
  const rest = await scanRange(
    sql,
    indexRange,
    { text: `${order.column} ${order.descending ? '<' : '>'} ?`, values: [after.value] },
    { limit: limit - ties.rows.length, scanRowsMax },
  )
  return { rows: [...ties.rows, ...rest.rows], horizon: rest.horizon }
}

/** Like `scan`, only for entries with the same value as the position, or none like it. */
export async function scanAlike(
  sql: Sql,
  indexRange: IndexRange,
  { value, id }: Position,
  { limit, scanRowsMax }: ScanBounds,
): Promise<Scanned> {
  const { order } = indexRange
  const bound =
    order.part === 'nulls'
      ? { text: idBound(order), values: [id] }
      : { text: `${order.column} = ? and ${idBound(order)}`, values: [value, id] }
  return scanRange(sql, indexRange, bound, { limit, scanRowsMax })
}

interface Bound {
  readonly text: string
  readonly values: readonly SqlValue[]
}
const none: Bound = { text: '', values: [] }

function idBound({ descending }: IndexOrder): string {
  return `id ${descending ? '<' : '>'} ?`
}

async function scanRange(
  sql: Sql,
  indexRange: IndexRange,
  bound: Bound,
  { limit, scanRowsMax }: ScanBounds,
): Promise<Scanned> {
  const { order, dimensionIds, conditions } = indexRange
  const filters: string[] = conditions.map((condition) => condition.text)
  const values: SqlValue[] = conditions.flatMap((condition) => condition.values)
  if (dimensionIds !== undefined) {
    filters.push(`dimension_id in (${idList(sql.dialect)})`)
    values.push(JSON.stringify(dimensionIds))
  }
  const range = rangeOf(sql, indexRange, bound)
  const { columns: some } = indexRange
  const columns = some?.join(', ') ?? entryColumns
  const read = some === undefined ? rowOf : (row: SqlRow): Row => partOfRow(row, some)
  const ask = (what: string, rows: number) =>
    `select ${what} from billing_entries ${range.text} limit ${rows}`
  if (filters.length === 0) {
    const rows = (await sql.all(ask(columns, limit), ...range.values)).map(read)
    return { rows, horizon: rows.length < limit ? undefined : positionOf(order, rows.at(-1)) }
  }
  // Picked entries are all read, wanted or not.
  const looked = isPicked(indexRange) ? Math.min(scanRowsMax, 16 * limit) : scanRowsMax
  const keys = ask(`${order.column} as value, id`, looked)
  const test = filters.join(' and ')
  const found = await sql.all(
    isPicked(indexRange)
      ? // Only what comes first is looked up, once the index alone has told which that is.
        `select ${columns} from billing_entries
         where id in (select id from (${keys}) keys) and ${test} ${orderText(order)} limit ${limit}`
      : `select * from (${ask(columns, scanRowsMax)}) scanned where ${test} limit ${limit}`,
    ...range.values,
    ...values,
  )
  const rows = found.map(read)
  if (rows.length === limit) return { rows, horizon: positionOf(order, rows.at(-1)) }
  const [last] = await sql.all(
    `select value, id from (${keys}) scanned limit 1 offset ${looked - 1}`,
    ...range.values,
  )
  if (last === undefined) return { rows, horizon: undefined }
  return { rows, horizon: { value: last['value'] ?? null, id: number(last, 'id') } }
}

/** The entry that is `rows` entries further, read from the index alone; undefined when the range ends before. */
export async function positionAfter(
  sql: Sql,
  indexRange: IndexRange,
  after: Position | undefined,
  rows: number,
): Promise<Position | undefined> {
  if (after === undefined) return positionIn(sql, indexRange, none, rows)
  const { column } = indexRange.order
  const ties = {
    text: `${column} = ? and ${idBound(indexRange.order)}`,
    values: [after.value, after.id],
  }
  const within = await positionIn(sql, indexRange, ties, rows)
  if (within !== undefined) return within
  const range = rangeOf(sql, indexRange, ties)
  const [counted] = await sql.all(
    `select count(*) as n from (select id from billing_entries ${range.text} limit ${rows}) ties`,
    ...range.values,
  )
  const left = rows - (counted === undefined ? 0 : number(counted, 'n'))
  const sign = indexRange.order.descending ? '<' : '>'
  return positionIn(sql, indexRange, { text: `${column} ${sign} ?`, values: [after.value] }, left)
}

async function positionIn(
  sql: Sql,
  indexRange: IndexRange,
  bound: Bound,
  rows: number,
): Promise<Position | undefined> {
  const range = rangeOf(sql, indexRange, bound)
  const [row] = await sql.all(
    `select ${indexRange.order.column} as value, id from billing_entries ${range.text} limit 1 offset ${rows - 1}`,
    ...range.values,
  )
  return row && { value: row['value'] ?? null, id: number(row, 'id') }
}

/** The number of entries of a range between two positions, read from the index alone. */
export async function countUpTo(
  sql: Sql,
  indexRange: IndexRange,
  after: Position | undefined,
  to: Position,
): Promise<number> {
  const { column, descending } = indexRange.order
  const [before, behind] = descending ? ['>', '<'] : ['<', '>']
  const ties = `${column} = ? and id ${before}= ?`
  const bounds: Bound[] = []
  if (after !== undefined && after.value === to.value) {
    const text = `${ties} and id ${behind} ?`
    bounds.push({ text, values: [to.value, to.id, after.id] })
  } else {
    bounds.push({ text: ties, values: [to.value, to.id] })
    if (after === undefined) {
      bounds.push({ text: `${column} ${before} ?`, values: [to.value] })
    } else {
      const between = `${column} ${behind} ? and ${column} ${before} ?`
      bounds.push({ text: between, values: [after.value, to.value] })
      const rest = `${column} = ? and ${idBound(indexRange.order)}`
      bounds.push({ text: rest, values: [after.value, after.id] })
    }
  }
  let count = 0
  for (const bound of bounds) {
    const range = rangeOf(sql, indexRange, bound)
    const [counted] = await sql.all(
      `select count(*) as n from (select id from billing_entries ${range.text}) passed`,
      ...range.values,
    )
    count += counted === undefined ? 0 : number(counted, 'n')
  }
  return count
}

/** The positions of the first entries of a range, read from the index alone. */
export async function scanPositions(
  sql: Sql,
  indexRange: IndexRange,
  after: Position | undefined,
  limit: number,
): Promise<readonly Position[]> {
  const { column, descending, part } = indexRange.order
  const read = async (bound: Bound, rows: number): Promise<readonly Position[]> => {
    const range = rangeOf(sql, indexRange, bound)
    const found = await sql.all(
      `select ${column} as value, id from billing_entries ${range.text} limit ${rows}`,
      ...range.values,
    )
    return found.map((row) => ({ value: row['value'] ?? null, id: number(row, 'id') }))
  }
  if (after === undefined) return read(none, limit)
  if (part === 'nulls') return read({ text: idBound(indexRange.order), values: [after.id] }, limit)
  const text = `${column} = ? and ${idBound(indexRange.order)}`
  const ties = await read({ text, values: [after.value, after.id] }, limit)
  if (ties.length >= limit) return ties
  const rest = { text: `${column} ${descending ? '<' : '>'} ?`, values: [after.value] }
  return [...ties, ...(await read(rest, limit - ties.length))]
}

/** `columns`: as in a range. */
export async function rowsOf(
  sql: Sql,
  ids: readonly number[],
  columns?: readonly string[],
): Promise<ReadonlyMap<number, Row>> {
  const rows = await sql.all(
    `select ${columns?.join(', ') ?? entryColumns} from billing_entries where id in (${idList(sql.dialect)})`,
    JSON.stringify(ids),
  )
  const read = columns === undefined ? rowOf : (row: SqlRow): Row => partOfRow(row, columns)
  return new Map(rows.map(read).map((row) => [row.id, row]))
}

/** A list of numbers as one parameter. */
export function idList(dialect: Sql['dialect']): string {
  return dialect === 'sqlite'
    ? 'select value from json_each(?)'
    : 'select value::bigint from json_array_elements_text(?::json)'
}

/** SQLite has no statistics here, so the index is named. */
function using(sql: Sql, index: string): string {
  return sql.dialect === 'sqlite' ? `indexed by ${index}` : ''
}

function rangeOf(sql: Sql, indexRange: IndexRange, bound: Bound): Bound {
  const { statementId, part, byDimension, order } = indexRange
  const { column } = order
  const values: SqlValue[] = [statementId]
  const tests = ['statement_id = ?']
  if (part !== undefined) {
    tests.push('part = ?')
    values.push(part)
  }
  if (byDimension?.length === 1) {
    // With an equation, the index provides the order.
    tests.push('dimension_id = ?')
    values.push(...byDimension)
  } else if (byDimension !== undefined) {
    tests.push(`dimension_id in (${idList(sql.dialect)})`)
    values.push(JSON.stringify(byDimension))
  }
  const kind = orderedColumns[column]
  if (order.part === 'nulls') tests.push(`${column} is null`)
  else if (kind !== 'always') tests.push(`${column} is not null`)
  if (bound.text !== '') tests.push(bound.text)
  values.push(...bound.values)
  const index =
    byDimension !== undefined
      ? 'billing_entries_by_dimension'
      : isInOrderOfIds(order)
        ? 'billing_entries_by_id'
        : indexOf(column)
  return {
    text: `${using(sql, index)} where ${tests.join(' and ')} ${orderText(order)}`,
    values,
  }
}

function orderText({ column, descending, part }: IndexOrder): string {
  const direction = descending ? 'desc' : 'asc'
  const id = `id ${direction}`
  return `order by ${part === 'nulls' ? id : `${column} ${direction}, ${id}`}`
}

/** The remaining members are those of an empty row. */
function partOfRow(row: SqlRow, columns: readonly string[]): Row {
  const part: Record<string, SqlValue> = {}
  for (const column of columns) part[memberOf[column] ?? column] = row[column] ?? null
  // The cells are those that `rowOf` would read.
  return { ...noRow, ...part } as Row
}

// Each column's member in a row.
const memberOf = Object.fromEntries(
  Object.keys(entries.columns).map((column) => [column, memberName(column)]),
) as Readonly<Record<string, keyof Row>>

export function positionOf(order: IndexOrder, row: Row | undefined): Position | undefined {
  const member = memberOf[order.column]
  if (row === undefined || member === undefined) return undefined
  return { value: row[member], id: row.id }
}

/** Negative when `a` comes first. Both are in one part of the order. */
export function comparePositions(order: IndexOrder, a: Position, b: Position): number {
  const sign = order.descending ? -1 : 1
  if (order.part === 'values' && a.value !== b.value) {
    // Values of one column have one type, and none here is null.
    return (a.value as number) < (b.value as number) ? -sign : sign
  }
  return a.id < b.id ? -sign : a.id > b.id ? sign : 0
}

/** Candidates by dimensions or by one column's bounds, unordered. Undefined when there are many. */
export async function fewCandidates(
  sql: Sql,
  { statementId, count }: { readonly statementId: number; readonly count: number },
  {
    condition,
    dimensionIds,
  }: {
    readonly condition?: Condition
    readonly dimensionIds?: readonly number[]
  },
  limit: number,
): Promise<readonly Row[] | undefined> {
  const index = condition === undefined ? 'billing_entries_by_dimension' : indexOf(condition.column)
  const test = condition?.text ?? `dimension_id in (${idList(sql.dialect)})`
  const byParts = condition === undefined || isByParts(condition.column)
  const ofParts = byParts ? `part in (${idList(sql.dialect)}) and ` : ''
  const values = [
    ...(byParts ? [JSON.stringify(Array.from({ length: count }, (_, part) => part))] : []),
    ...(condition?.values ?? [JSON.stringify(dimensionIds ?? [])]),
  ]
  const where = `from billing_entries ${using(sql, index)} where statement_id = ? and ${ofParts}${test}`
  const [counted] = await sql.all(
    `select count(*) as n from (select 1 ${where} limit ${limit + 1}) counted`,
    statementId,
    ...values,
  )
  if (counted === undefined || number(counted, 'n') > limit) return undefined
  const rows = await sql.all(
    `select ${entryColumns} ${where} limit ${limit}`,
    statementId,
    ...values,
  )
  return rows.map(rowOf)
}
