/**
 * A page of details: in the order of the run, a page costs the page; with a filter, as many rows are looked at as
 * the limit says and the page may come back short; with an order, the rows before it are passed over.
 */

import { compileFilter } from '#kernel/filter/evaluate.ts'
import type { FieldMap } from '#kernel/filter/field-map.ts'
import { findByPath } from '#kernel/filter/field-map.ts'
import { type OrderTerm, parseOrderBy } from '#kernel/filter/order-by.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import type { Sql, SqlRow } from '#stores/store.ts'
import { refuseShare } from '../errors.ts'
import { type Detail, toDetail } from '../ledger/runs.ts'
import { detailColumns, detailFields } from './records.ts'

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

/** Rows looked at for one filtered page (the limit of filtered lists elsewhere is the same). */
const scannedMax = 5000
const chunkRows = 500

export async function listDetails(
  sql: Sql,
  runId: string,
  question: Question,
): Promise<Page<Detail>> {
  const fields = detailFields(question.now)
  const matches = filterOf(question.query, fields)
  const order = orderOf(question.query, fields)
  const read = reader(sql, runId, order, question.now)
  const items: Detail[] = []
  let at = cursorNumber(question.cursor)
  for (let scanned = 0; scanned < scannedMax; ) {
    const wanted = matches === undefined ? question.pageSize + 1 : chunkRows
    const rows = await read(at, wanted)
    for (const [index, { row, position }] of rows.entries()) {
      const detail = toDetail(row)
      const isLast = index === rows.length - 1 && rows.length < wanted
      if (matches === undefined || matches(detail)) items.push(detail)
      at = position
      if (items.length === question.pageSize)
        return isLast ? { items } : { items, next: String(at) }
    }
    scanned += rows.length
    if (rows.length < wanted) return { items }
  }
  return { items, next: String(at) }
}

type Read = (
  after: number,
  limit: number,
) => Promise<readonly { readonly row: SqlRow; readonly position: number }[]>

function reader(sql: Sql, runId: string, order: string | undefined, _now: number): Read {
  if (order === undefined) {
    return async (after, limit) => {
      const rows = await sql.all(
        'select * from share_details where run_id = ? and place > ? order by place limit ?',
        runId,
        after,
        limit,
      )
      return rows.map((row) => ({ row, position: Number(row['place']) }))
    }
  }
  return async (after, limit) => {
    const rows = await sql.all(
      `select * from share_details where run_id = ? order by ${order}, place limit ? offset ?`,
      runId,
      limit,
      after,
    )
    return rows.map((row, index) => ({ row, position: after + index + 1 }))
  }
}

/** Of our own making; the plane has checked that nobody else made it. */
function cursorNumber(cursor: string | undefined): number {
  return cursor === undefined ? 0 : Number(cursor)
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

/** Names only from the table of columns: nothing of the text reaches the statement. */
function orderOf(query: URLSearchParams, fields: FieldMap<Detail>): string | undefined {
  const terms = orderTerms(query)
  if (terms.length === 0) return undefined
  return terms
    .map(({ path, direction }) => {
      const column = findByPath(columns, path.segments, fields)
      if (column === undefined) {
        const known = Object.keys(columns).sort().join(', ')
        throw refused('$orderby', `at position ${path.position}: expected a field of ${known}`)
      }
      const nulls = direction === 'asc' ? 'nulls first' : 'nulls last'
      return `${column} ${direction} ${nulls}`
    })
    .join(', ')
}

const columns: Readonly<Record<string, string>> = {
  ...detailColumns,
  // What still runs is longest by being youngest, so it stands last whatever its number.
  durationMs: '(ended_at - started_at)',
  vCore: '(ended_at - started_at)',
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
