/**
 * Scans the audit trail from the newest record to the oldest and skips what a query cannot match: by index where the
 * store has indexes, by the summaries of blocks where it has none.
 */

import type { Sql, SqlRow, SqlValue } from '#stores/store.ts'
import { TermFilter, type Terms } from './blocks.ts'
import { type ActivityQuery, columns } from './stored-activity.ts'

/** A record's position in scan order. A scan continues after it. */
export interface ScanPosition {
  readonly at: number
  readonly number: number
}

interface ScanBatch {
  /** The rows in scan order. Some may not match the query. */
  readonly rows: readonly SqlRow[]
  /** The position to continue from; undefined at the end of the trail. */
  readonly next: ScanPosition | undefined
}

type Scan = (position: ScanPosition | undefined, limit: number) => Promise<ScanBatch>

export function openScan(sql: Sql, query: ActivityQuery): Scan {
  return sql.dialect === 'sqlite' ? scanByBlocks(sql, query) : scanByIndex(sql, query)
}

const latest = Number.MAX_SAFE_INTEGER

/** The terms that have an index, the most selective first, with their columns. The caller has no index. */
const indexed = [
  ['correlation', 'correlation_id'],
  ['key', 'key'],
  ['subscription', 'subscription'],
] as const satisfies readonly (readonly [keyof Terms, string])[]

/** One SQL text per column keeps the number of statements small. */
function indexQuery(column: string | undefined): string {
  const scope = column === undefined ? '' : `${column} = ? and`
  return `select ${columns} from events
    where ${scope} at >= ? and at <= ? and (at < ? or number < ?)
    order by at desc, number desc limit ?`
}

function scanByIndex(sql: Sql, { equal, from = 0, until = latest }: ActivityQuery): Scan {
  const found = indexed.find(([term]) => equal[term] !== undefined)
  const scope: readonly SqlValue[] = found === undefined ? [] : [equal[found[0]] ?? '']
  const text = indexQuery(found?.[1])
  return async (position, limit) => {
    const { at, number } = position ?? { at: latest, number: latest }
    const rows = await sql.all(text, ...scope, from, Math.min(until, at), at, number, limit)
    return { rows, next: rows.length < limit ? undefined : positionOf(rows.at(-1)) }
  }
}

export const scanQueries = {
  rows: `select ${columns} from events where number < ? and number >= ? order by number desc limit ?`,
  block:
    'select last, first, earliest, latest, terms from event_blocks where last < ? order by last desc limit ?',
  holder:
    'select last, first, earliest, latest, terms from event_blocks where last >= ? order by last limit 1',
} as const

/** The number of blocks read per batch: 128 KB of them. */
const blocksAtOnce = 64

/**
 * Scans in order of the record numbers. Records after the last block are all read; inside blocks, only the records
 * of blocks that may match.
 */
function scanByBlocks(sql: Sql, query: ActivityQuery): Scan {
  return async (position, limit) => {
    let below = position?.number ?? latest
    // The rows of one block, or all rows after the last block.
    const [last] = await sql.all(scanQueries.block, latest, 1)
    const end = Number(last?.['last'] ?? 0)
    if (below > end + 1) return readRange(sql, below, end + 1, limit)
    const [holder] = await sql.all(scanQueries.holder, below - 1)
    const first = Number(holder?.['first'] ?? 1)
    if (holder !== undefined && below > first) {
      if (mayHold(holder, query)) return readRange(sql, below, first, limit)
      below = first
    }
    const blocks = await sql.all(scanQueries.block, below, blocksAtOnce)
    for (const block of blocks) {
      const begin = Number(block['first'])
      if (mayHold(block, query)) return readRange(sql, Number(block['last']) + 1, begin, limit)
      below = begin
    }
    return { rows: [], next: blocks.length < blocksAtOnce ? undefined : { at: 0, number: below } }
  }
}

async function readRange(
  sql: Sql,
  below: number,
  least: number,
  limit: number,
): Promise<ScanBatch> {
  const rows = await sql.all(scanQueries.rows, below, least, limit)
  if (rows.length === limit) return { rows, next: positionOf(rows.at(-1)) }
  return { rows, next: least <= 1 ? undefined : { at: 0, number: least } }
}

function mayHold(block: SqlRow, { equal, from = 0, until = latest }: ActivityQuery): boolean {
  if (Number(block['earliest']) > until || Number(block['latest']) < from) return false
  const { terms } = block as { readonly terms: unknown }
  return !(terms instanceof Uint8Array) || new TermFilter(terms).mayHold(equal)
}

function positionOf(row: SqlRow | undefined): ScanPosition | undefined {
  return row === undefined ? undefined : { at: Number(row['at']), number: Number(row['number']) }
}
