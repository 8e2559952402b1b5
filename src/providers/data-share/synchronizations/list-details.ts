/**
 * A page of details: wherever it begins, it costs the page. With a filter, as many rows are looked at as the limit
 * says, by the store as far as it can, and the page may come back short; orders are those of indexes.
 */

import { compileFilter } from '#kernel/filter/evaluate.ts'
import type { FieldMap } from '#kernel/filter/field-map.ts'
import { type OrderTerm, parseOrderBy } from '#kernel/filter/order-by.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import type { Sql, SqlRow, SqlTx, SqlValue } from '#stores/store.ts'
import { refuseShare } from '../errors.ts'
import { type Detail, toDetail } from '../ledger/runs.ts'
import { alongIndexes, pageByGroups } from './by-groups.ts'
import { type Narrowing, narrow } from './narrow.ts'
import { keys, type Ordering, orderingOf } from './ordering.ts'
import { detailFields } from './records.ts'

export interface Question {
  readonly query: URLSearchParams
  readonly cursor: string | undefined
  readonly pageSize: number
  readonly now: number
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** Rows looked at for one page of a filtered list (the limit of filtered lists elsewhere is the same). */
const scannedMax = 5000
/** Where the store looks at them itself, which is quick; and where each comes here to be looked at. */
const windowRows = 5000
const windowRowsOrdered = 500
const chunkRows = 500
const chunkedMax = 2000

interface Wanted {
  readonly matches: (detail: Detail) => boolean
  readonly narrowing: Narrowing | undefined
}

export async function listDetails(
  sql: Sql,
  runId: string,
  question: Question,
): Promise<Page<Detail>> {
  const fields = detailFields(question.now)
  const filter = nodeOf(question.query, fields)
  const ordering = orderOf(sql, question.query, fields)
  const answer = (tx: Reader): Promise<Page<Detail>> => {
    const read = ordering === undefined ? byPlace(tx, runId) : byOrder(tx, runId, ordering)
    return pageOf(read, question, filter, ordering)
  }
  return ordering === undefined && filter === undefined ? answer(sql) : alongIndexes(sql, answer)
}

async function pageOf(
  read: Read,
  question: Question,
  filter: Wanted | undefined,
  ordering: Ordering | undefined,
): Promise<Page<Detail>> {
  let cursor = cursorOf(question.cursor)
  if (filter === undefined) {
    const { rows } = await read(cursor, question.pageSize + 1, question.pageSize + 1, undefined)
    const shown = rows.slice(0, question.pageSize)
    const last = shown.at(-1)
    const items = shown.map(({ row }) => toDetail(row))
    return rows.length > shown.length && last !== undefined
      ? { items, next: JSON.stringify(last.cursor) }
      : { items }
  }
  const { matches } = filter
  // An order of several fields is made group by group, and what it gives is looked at here.
  const isGrouped = ordering !== undefined && ordering.terms.length > 2
  const narrowing = isGrouped ? undefined : filter.narrowing
  const window =
    narrowing === undefined ? chunkRows : ordering === undefined ? windowRows : windowRowsOrdered
  const items: Detail[] = []
  const most =
    ordering !== undefined ? windowRowsOrdered : narrowing === undefined ? chunkedMax : scannedMax
  for (let scanned = 0; scanned < most; scanned += window) {
    const { rows, end } = await read(cursor, window, question.pageSize + 1, narrowing)
    for (const { row, cursor: at } of rows) {
      const detail = toDetail(row)
      if (!matches(detail)) continue
      if (items.length === question.pageSize) return { items, next: JSON.stringify(cursor) }
      items.push(detail)
      cursor = at
    }
    // As many rows came as were asked for: there may be more in the window.
    cursor = narrowing !== undefined && rows.length > question.pageSize ? last(rows) : end
    if (cursor === undefined) return { items }
  }
  return cursor === undefined ? { items } : { items, next: JSON.stringify(cursor) }
}

type Cursor = readonly SqlValue[]
type Reader = Pick<SqlTx, 'all'>

interface Found {
  readonly row: SqlRow
  readonly cursor: Cursor
}

function last(rows: readonly Found[]): Cursor | undefined {
  return rows.at(-1)?.cursor
}

/**
 * Looks at `window` rows behind the cursor, and gives at most `limit` of those that may match. `end` is where the
 * window ends; undefined when nothing is behind it.
 */
type Read = (
  after: Cursor | undefined,
  window: number,
  limit: number,
  narrowing: Narrowing | undefined,
) => Promise<{ readonly rows: readonly Found[]; readonly end: Cursor | undefined }>

function byPlace(tx: Reader, runId: string): Read {
  return async (after, window, limit, narrowing) => {
    const from = Number(after?.[0] ?? 0)
    // Places of a run have no gaps.
    const to = from + window
    const rows = await tx.all(
      `select * from share_details where run_id = ? and place > ? and place <= ?
        ${narrowing === undefined ? '' : `and ${narrowing.text}`} order by place limit ?`,
      runId,
      from,
      to,
      ...(narrowing?.values ?? []),
      narrowing === undefined ? window : limit,
    )
    const found = rows.map((row) => ({ row, cursor: [Number(row['place'])] }))
    if (narrowing === undefined)
      return { rows: found, end: rows.length < window ? undefined : [to] }
    const [more] = await tx.all(
      'select place from share_details where run_id = ? and place > ? order by place limit 1',
      runId,
      to,
    )
    return { rows: found, end: more === undefined ? undefined : [to] }
  }
}

function byOrder(tx: Reader, runId: string, ordering: Ordering): Read {
  const { selected, orderBy, terms } = ordering
  const found = (rows: readonly SqlRow[]): readonly Found[] =>
    rows.map((row) => ({ row, cursor: ordering.cursorOf(row) }))
  if (terms.length > 2) {
    return async (after, window) => {
      const rows = found(await pageByGroups(tx, { runId, terms, selected }, after, window))
      return { rows, end: rows.length < window ? undefined : last(rows) }
    }
  }
  return async (after, window, limit, narrowing) => {
    const behind = after === undefined ? { text: '1 = 1', values: [] } : ordering.after(after)
    const from = `from share_details where run_id = ? and ${behind.text} order by ${orderBy}`
    const values = [runId, ...behind.values]
    if (narrowing === undefined) {
      const rows = found(await tx.all(`select *, ${selected} ${from} limit ?`, ...values, window))
      return { rows, end: rows.length < window ? undefined : last(rows) }
    }
    const ends = await tx.all(`select ${selected} ${from} limit 1 offset ?`, ...values, window - 1)
    const end = last(found(ends))
    const bound = end === undefined ? { text: '1 = 1', values: [] } : ordering.upTo(end)
    const rows = await tx.all(
      `select *, ${selected} from share_details where run_id = ? and ${behind.text} and ${bound.text}
        and ${narrowing.text} order by ${orderBy} limit ?`,
      ...values,
      ...bound.values,
      ...narrowing.values,
      limit,
    )
    return { rows: found(rows), end }
  }
}

/** Of our own making; the plane has checked that nobody else made it. */
function cursorOf(cursor: string | undefined): Cursor | undefined {
  return cursor === undefined ? undefined : (JSON.parse(cursor) as Cursor)
}

function nodeOf(query: URLSearchParams, fields: FieldMap<Detail>): Wanted | undefined {
  const matches = filterOf(query, fields)
  const text = parameter(query, '$filter')
  if (matches === undefined || text === undefined) return undefined
  const parsed = parseFilter(text, lenientProfile)
  return { matches, narrowing: parsed.ok ? narrow(parsed.node, fields) : undefined }
}

export function filterOf<T>(
  query: URLSearchParams,
  fields: FieldMap<T>,
): ((item: T) => boolean) | undefined {
  const text = parameter(query, '$filter')
  if (text === undefined) return undefined
  const parsed = parseFilter(text, lenientProfile)
  const compiled = parsed.ok ? compileFilter(parsed.node, fields) : parsed
  if (!compiled.ok) throw refused('$filter', compiled.message)
  return compiled.matches
}

export function orderTerms(query: URLSearchParams): readonly OrderTerm[] {
  const text = parameter(query, '$orderby')
  if (text === undefined) return []
  const parsed = parseOrderBy(text, lenientProfile)
  if (!parsed.ok) throw refused('$orderby', parsed.message)
  return parsed.terms
}

/** Names only from the table of keys: nothing of the text reaches the statement. */
function orderOf(sql: Sql, query: URLSearchParams, fields: FieldMap<Detail>): Ordering | undefined {
  const terms = orderTerms(query)
  if (terms.length === 0) return undefined
  const ordering = orderingOf(terms, fields, sql.dialect)
  if (!('unknown' in ordering)) return ordering
  const known = [...Object.keys(keys), 'vCore'].sort().join(', ')
  throw refused(
    '$orderby',
    `at position ${ordering.unknown.position}: expected a field of ${known}`,
  )
}

function parameter(query: URLSearchParams, name: string): string | undefined {
  for (const [key, value] of query) {
    if (key.toLowerCase() === name && value.trim() !== '') return value
  }
  return undefined
}

function refused(name: string, reason: string): Error {
  return refuseShare.InvalidFilter({ parameter: name, reason })
}
