/** Reads the ranges of a stream as one, in order, up to the point to which all have been read. */

import type { Sql } from '#stores/store.ts'
import type { Entry, Row } from './entry.ts'
import type { LedgerDependencies } from './page.ts'
import type { LedgerQuery } from './query.ts'
import {
  comparePositions,
  countUpTo,
  type IndexRange,
  isPicked,
  type Position,
  positionAfter,
  positionOf,
  rowsOf,
  scan,
  scanPositions,
} from './scan.ts'
import type { Stream } from './streams.ts'

const skippedAtOnce = 20_000
/** Fewer rows are read just as fast. */
const hopMin = 50

/** The position of an entry relative to a stream: after all of it, before all of it (undefined), or within. */
export function placeOf(
  query: LedgerQuery,
  grouped: number,
  stream: Stream,
  last: Entry,
): 'past' | Position | undefined {
  if (stream.sample !== undefined) {
    const sameRow = { ...last, row: stream.sample.row }
    const compared = query.compareFirst(grouped, stream.sample, sameRow)
    if (compared !== 0) return compared < 0 ? 'past' : undefined
  }
  const position = positionOf(stream.order, last.row)
  const isNull = position?.value === null
  const nullsFirst = !stream.order.descending
  if (stream.order.part === 'values') {
    if (!isNull) return position
    return nullsFirst ? undefined : 'past'
  }
  if (isNull) return position
  return nullsFirst ? 'past' : undefined
}

/** All ranges of a stream as one, up to the first of their horizons. */
export async function scanAll(
  { sql, limits }: LedgerDependencies,
  stream: Stream,
  after: Position | undefined,
  size: number,
): Promise<{ readonly rows: readonly Row[]; readonly horizon: Position | undefined }> {
  const { order, stretches } = stream
  const rows: Row[] = []
  let horizon: Position | undefined
  const byKeys = stretches.length > keysFrom || stretches.some(isPicked)
  if (byKeys && stretches.every(isBare)) {
    return scanKeys(sql, stream, after, size)
  }
  const scanRowsMax = Math.max(size, Math.ceil(limits.scanRowsMax / Math.max(1, stretches.length)))
  const share = shareOf(size, stretches.length)
  for (const range of stretches) {
    const scanned = await scan(sql, range, after, { limit: share, scanRowsMax })
    rows.push(...scanned.rows)
    const { horizon: here } = scanned
    if (here === undefined) continue
    if (horizon === undefined || comparePositions(order, here, horizon) < 0) horizon = here
  }
  const position = (row: Row): Position => {
    const found = positionOf(order, row)
    if (found === undefined) throw new Error(`no order by ${order.column}`)
    return found
  }
  if (stretches.length > 1) rows.sort((a, b) => comparePositions(order, position(a), position(b)))
  const end = horizon
  const kept =
    end === undefined
      ? rows
      : rows.filter((row) => comparePositions(order, position(row), end) <= 0)
  if (kept.length <= size) return { rows: kept, horizon }
  const cut = kept.slice(0, size)
  return { rows: cut, horizon: positionOf(order, cut.at(-1)) }
}

/** Below this number of ranges, whole rows are read at once. */
const keysFrom = 2

function isBare({ dimensionIds, conditions }: IndexRange): boolean {
  return dimensionIds === undefined && conditions.length === 0
}

/**
 * For many ranges that an index alone can answer: first the positions of entries, then the rows of the first ones.
 */
async function scanKeys(
  sql: Sql,
  { order, stretches }: Stream,
  after: Position | undefined,
  size: number,
): Promise<{ readonly rows: readonly Row[]; readonly horizon: Position | undefined }> {
  const share = shareOf(size, stretches.length)
  const positions: Position[] = []
  let horizon: Position | undefined
  for (const range of stretches) {
    const found = await scanPositions(sql, range, after, share)
    for (const one of found) positions.push(one)
    const last = found.length < share ? undefined : found.at(-1)
    if (last === undefined) continue
    if (horizon === undefined || comparePositions(order, last, horizon) < 0) horizon = last
  }
  positions.sort((a, b) => comparePositions(order, a, b))
  const end = horizon
  const seen =
    end === undefined
      ? positions
      : positions.filter((one) => comparePositions(order, one, end) <= 0)
  const kept = seen.slice(0, size)
  const ids = kept.map(({ id }) => id)
  const found = await rowsOf(sql, ids, stretches[0]?.columns)
  const rows = kept.flatMap(({ id }) => found.get(id) ?? [])
  return { rows, horizon: seen.length > size ? kept.at(-1) : horizon }
}

const shareMin = 16

/**
 * The number of rows to read from each of several index ranges: no range has all, and some have more than others.
 */
function shareOf(size: number, stretches: number): number {
  return Math.min(size, Math.max(shareMin, Math.ceil((2 * size) / stretches)))
}

/**
 * Over many entries of an unfiltered stream by its indexes alone; undefined where rows have to be read. Of so many
 * stretches each goes ahead its share; up to the first of the places they come to, all of them are passed.
 */
export async function skipAhead(
  sql: Sql,
  { stretches, order }: Stream,
  after: Position | undefined,
  skip: number,
): Promise<{ readonly skipped: number; readonly position: Position } | undefined> {
  if (!stretches.every(isBare) || order.part === 'nulls') return undefined
  const hop = Math.floor(Math.min(skip, skippedAtOnce) / Math.max(1, stretches.length))
  if (hop < hopMin) return undefined
  let position: Position | undefined
  for (const range of stretches) {
    const here = await positionAfter(sql, range, after, hop)
    if (here === undefined) continue
    if (position === undefined || comparePositions(order, here, position) < 0) position = here
  }
  if (position === undefined) return undefined
  if (stretches.length === 1) return { skipped: hop, position }
  let skipped = 0
  for (const range of stretches) skipped += await countUpTo(sql, range, after, position)
  return { skipped, position }
}
