/**
 * Answers questions page by page. A page costs the page: it walks an index in the order asked, from the entry the
 * last page ended with, over a bounded number of rows; what describes many entries at once is decided ahead, from
 * the dimensions of the statements alone. Entries never change, so an entry is all a continuation has to name.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { refuse } from '#kernel/error.ts'
import type { Sql } from '#stores/store.ts'
import { refuseBilling } from '../errors.ts'
import type { BillingLimits } from '../limits.ts'
import { orderedColumns } from '../migrations.ts'
import type { Dimensions } from './dimensions.ts'
import type { Entry, Row, Statement } from './entry.ts'
import type { Condition, Question } from './question.ts'
import {
  comparePositions,
  entryColumns,
  few,
  type IndexOrder,
  type Position,
  positionAfter,
  positionOf,
  rowOf,
  rowsOf,
  type Stretch,
  scan,
  scanPositions,
} from './scan.ts'
import {
  type KnownDimension,
  type KnownStatements,
  type Selection,
  selectDimensions,
} from './selection.ts'

export interface PageRequest {
  readonly question: Question
  readonly words: readonly string[]
  readonly statements: readonly Statement[]
  readonly limit: number
  readonly skip: number
  readonly cursor: string | undefined
}

export interface EntryPage {
  readonly entries: readonly Entry[]
  readonly next?: string
}

export interface LedgerParts {
  readonly sql: Sql
  readonly dimensions: Dimensions
  readonly known: KnownStatements
  readonly limits: BillingLimits
}

/** What is walked one after the other: all entries of one come before all of the next. */
interface Stream {
  readonly order: IndexOrder
  readonly stretches: readonly Stretch[]
  /** Entries of groups that come before or after, by the terms that made the groups. */
  readonly sample: Entry | undefined
}

const everything: Condition = { column: 'date', text: 'date > ?', values: [-8_640_000_000_000_000] }
const perDimensionMax = 64
/** Below this part of a statement, going through each dimension is less than walking past the others. */
const rarePart = 1 / 40
const skippedAtOnce = 20_000

export async function readPage(parts: LedgerParts, request: PageRequest): Promise<EntryPage> {
  const { question, words } = request
  const statements = request.statements.filter(({ entries }) => entries > 0)
  const selection = await selectDimensions(parts, statements, question, words)
  if (selection.isEmpty) return { entries: [] }
  const asked = { ...request, statements }
  const from = await continued(parts, asked)
  const isFiltered = question.conditions.length > 0 || question.needsEntries || selection.narrows
  const walk = streamsOf(parts, asked, selection)
  if (isFiltered || walk === undefined) {
    const candidates = await candidatesOf(parts, asked, selection)
    if (candidates !== undefined) return sortedPage(asked, candidates, from)
  }
  if (walk === undefined) {
    throw refuseBilling.OrderTooExpensive({
      order: question.orderText,
      reason: `no index has this order, and more than ${parts.limits.sortRowsMax} would have to be sorted`,
      limit: parts.limits.sortRowsMax,
    })
  }
  return walkPage(parts, asked, selection, walk, from, isFiltered)
}

/** Where a page goes on: behind an entry, in a group of dimensions, with so many still to be skipped. */
interface Continuation {
  /** The row of the entry; what it shares is that of the group, which may be another's. */
  readonly last: Entry
  readonly skip: number
}

function continuation(row: Row | Position, group: Entry | undefined, skip = 0): string {
  const place = group === undefined ? [] : [group.statement.id, group.row.dimensionId]
  return [row.id, skip, ...place].join('|')
}

/** The cursor is signed by the plane, so one that names nothing here is another list's. */
async function continued(
  parts: LedgerParts,
  { cursor, statements }: PageRequest,
): Promise<Continuation | undefined> {
  if (cursor === undefined) return undefined
  const [id = 0, skip = 0, statementId, dimensionId] = cursor.split('|').map(Number)
  const [found] = await parts.sql.all(
    `select ${entryColumns} from billing_entries where id = ?`,
    id,
  )
  if (found === undefined) throw refuse.InvalidContinuationToken()
  const row = rowOf(found)
  const group = {
    statementId: statementId ?? row.statementId,
    dimensionId: dimensionId ?? row.dimensionId,
  }
  const statement = statements.find((one) => one.id === group.statementId)
  if (statement === undefined) throw refuse.InvalidContinuationToken()
  const known = new Map([[statement.id, statement]])
  const [last] = await entriesOf(parts, [{ ...row, ...group }], known)
  return last && { last, skip }
}

export async function entriesOf(
  { dimensions }: LedgerParts,
  rows: readonly Row[],
  statements: ReadonlyMap<number, Statement>,
): Promise<readonly Entry[]> {
  const found = await dimensions.read(rows.map(({ dimensionId }) => dimensionId))
  return rows.map((row) => {
    const dimension = found.get(row.dimensionId)
    const statement = statements.get(row.statementId)
    if (dimension === undefined || statement === undefined) {
      throw new Error(`the entry ${row.id} has lost what it belongs to`)
    }
    return { row, dimension, statement }
  })
}

function byId(statements: readonly Statement[]): ReadonlyMap<number, Statement> {
  return new Map(statements.map((statement) => [statement.id, statement]))
}

/** All that may match, where that is few; undefined where it is not, or cannot be told. */
async function candidatesOf(
  parts: LedgerParts,
  { question, statements }: PageRequest,
  selection: Selection,
): Promise<readonly Entry[] | undefined> {
  const { sortRowsMax } = parts.limits
  const rows: Row[] = []
  for (const statement of statements) {
    const left = sortRowsMax - rows.length
    const chosen = selection.of(statement.id)
    if (chosen?.entries === 0) continue
    let found: readonly Row[] | undefined
    if (chosen !== undefined && chosen.entries <= left) {
      found = await few(parts.sql, statement.id, undefined, chosen.ids, left)
    }
    for (const condition of question.conditions) {
      // Those without a value are no range of an index that holds values alone.
      if (found !== undefined || condition.values.length === 0) continue
      found = await few(parts.sql, statement.id, condition, undefined, left)
    }
    if (found === undefined && statement.entries <= left) {
      found = await few(parts.sql, statement.id, everything, undefined, left)
    }
    if (found === undefined) return undefined
    rows.push(...found)
  }
  const entries = await entriesOf(parts, rows, byId(statements))
  return entries.filter((entry) => selection.allows(entry) && question.holds(entry))
}

function sortedPage(
  { question, limit, skip }: PageRequest,
  candidates: readonly Entry[],
  from: Continuation | undefined,
): EntryPage {
  const compare = totalOrder(question)
  const sorted = candidates.toSorted(compare)
  const rest = from === undefined ? sorted : sorted.filter((one) => compare(one, from.last) > 0)
  const start = from?.skip ?? skip
  const entries = rest.slice(start, start + limit)
  const next = rest.length > start + limit ? entries.at(-1) : undefined
  return { entries, ...(next === undefined ? {} : { next: continuation(next.row, undefined) }) }
}

/**
 * What ties by all terms has an order too, the one of the index that would be walked, so that pages go on alike
 * when what was few has become much.
 */
function totalOrder(question: Question): (a: Entry, b: Entry) => number {
  const [first] = question.order
  const date = question.order.find(({ field }) => field.path === 'properties/date')
  const isGrouped = first?.field.place.kind !== 'column'
  const descending = isGrouped ? (date?.descending ?? true) : first?.descending === true
  const sign = descending ? -1 : 1
  return (a, b) =>
    question.compare(a, b) ||
    (isGrouped ? sign * (a.row.date - b.row.date) : 0) ||
    sign * (a.row.id - b.row.id)
}

/** The order as streams, or undefined where no index has it. */
function streamsOf(
  { known }: LedgerParts,
  { question, statements }: PageRequest,
  selection: Selection,
): Iterable<Stream> | undefined {
  const [first, ...more] = question.order
  if (first === undefined) return undefined
  const { place } = first.field
  if (place.kind === 'column' && more.length === 0) {
    const order = { column: place.column, descending: first.descending }
    const stream = (part: IndexOrder['part']): Stream => ({
      order: { ...order, part },
      stretches: statements.flatMap((statement) =>
        stretchesOf(question, statement, selection.of(statement.id), { ...order, part }),
      ),
      sample: undefined,
    })
    if (orderedColumns[place.column] === 'always') return [stream('values')]
    const both = [stream('nulls'), stream('values')]
    return first.descending ? both.reverse() : both
  }
  return groupedStreams(known, question, statements, selection)
}

/** By what dimensions say, then by date: one stream for each group that says the same. */
function groupedStreams(
  cache: KnownStatements,
  question: Question,
  statements: readonly Statement[],
  selection: Selection,
): Iterable<Stream> | undefined {
  const dateAt = question.order.findIndex(({ field }) => field.place.kind === 'column')
  const date = dateAt < 0 ? undefined : question.order[dateAt]
  const isLast = dateAt < 0 || dateAt === question.order.length - 1
  const shared = question.order.filter((term) => term !== date)
  const isShared = shared.every(({ field }) =>
    ['dimension', 'statement'].includes(field.place.kind),
  )
  if (!isLast || !isShared) return undefined
  if (date !== undefined && date.field.path !== 'properties/date') return undefined
  const sorted: Sample[] = []
  for (const statement of statements) {
    const all = selection.all(statement.id)
    if (all === undefined) return undefined
    const compare = (a: KnownDimension, b: KnownDimension): number =>
      question.compare(
        entryOfSample(selection, { statement, known: a }),
        entryOfSample(selection, { statement, known: b }),
      )
    const chosen = new Set(selection.known(statement.id))
    for (const known of cache.sorted(all, question.orderText, compare)) {
      if (chosen.has(known)) sorted.push({ statement, known })
    }
  }
  if (statements.length > 1) {
    sorted.sort((a, b) =>
      question.compare(entryOfSample(selection, a), entryOfSample(selection, b)),
    )
  }
  // Without a date asked for, the newest of a group come first.
  const order: IndexOrder = { column: 'date', descending: date?.descending ?? true, part: 'values' }
  return groupsOf(question, selection, sorted, order)
}

interface Sample {
  readonly statement: Statement
  readonly known: KnownDimension
}

function entryOfSample({ noRow }: Selection, { statement, known }: Sample): Entry {
  return { row: { ...noRow, dimensionId: known.id }, dimension: known.dimension, statement }
}

/** One at a time: a page mostly needs the first. */
function* groupsOf(
  question: Question,
  selection: Selection,
  sorted: readonly Sample[],
  order: IndexOrder,
): Generator<Stream> {
  for (let from = 0; from < sorted.length; ) {
    const begun = sorted[from]
    if (begun === undefined) return
    const sample = entryOfSample(selection, begun)
    let end = from + 1
    for (; end < sorted.length; end++) {
      const here = sorted[end]
      if (here === undefined) break
      if (question.compare(sample, entryOfSample(selection, here)) !== 0) break
    }
    const members = Map.groupBy(sorted.slice(from, end), ({ statement }) => statement)
    from = end
    yield {
      order,
      sample,
      stretches: [...members].flatMap(([statement, some]) => {
        const ids = some.map(({ known }) => known.id)
        const entries = some.reduce((sum, { known }) => sum + known.entries, 0)
        return stretchesOf(question, statement, { ids, entries }, order)
      }),
    }
  }
}

function stretchesOf(
  { conditions }: Question,
  statement: Statement,
  chosen: { readonly ids: readonly number[]; readonly entries: number } | undefined,
  order: IndexOrder,
): readonly Stretch[] {
  const stretch = { statementId: statement.id, conditions, order }
  if (chosen === undefined) return [stretch]
  if (chosen.entries === 0) return []
  const isRare = chosen.entries < statement.entries * rarePart || chosen.ids.length === 1
  if (order.column === 'date' && isRare && chosen.ids.length <= perDimensionMax) {
    return chosen.ids.map((dimensionId) => ({ ...stretch, dimensionId }))
  }
  return [{ ...stretch, dimensionIds: chosen.ids }]
}

async function walkPage(
  parts: LedgerParts,
  request: PageRequest,
  selection: Selection,
  streams: Iterable<Stream>,
  from: Continuation | undefined,
  isFiltered: boolean,
): Promise<EntryPage> {
  const { question, limit } = request
  const { scanRowsMax, readRowsMax } = parts.limits
  const statements = byId(request.statements)
  const readsEach = question.needsEntries || selection.isPartial
  const found: Entry[] = []
  const last = from?.last
  let skip = from?.skip ?? request.skip
  let budget = scanRowsMax
  for (const stream of streams) {
    let after: Position | undefined
    if (last !== undefined) {
      const place = placeOf(question, stream, last)
      if (place === 'past') continue
      after = place
    }
    for (;;) {
      if (!isFiltered && skip > 0) {
        const hop = await skipAhead(parts.sql, stream, after, skip)
        if (hop !== undefined) {
          skip -= hop.skipped
          after = hop.position
          await nextTurn()
          continue
        }
      }
      const missing = limit + 1 - found.length
      const size = readsEach ? Math.min(readRowsMax, scanRowsMax) : Math.min(1000, missing + skip)
      const seen = await scanAll(parts, stream, after, size)
      const entries = (await entriesOf(parts, seen.rows, statements)).filter(
        (entry) => selection.allows(entry) && question.holds(entry),
      )
      const skipped = Math.min(skip, entries.length)
      skip -= skipped
      found.push(...entries.slice(skipped))
      if (found.length > limit) return ended(found, limit)
      if (seen.horizon === undefined) break
      after = seen.horizon
      if (skipped > 0) {
        await nextTurn()
        continue
      }
      budget -= readsEach ? Math.ceil((size * scanRowsMax) / readRowsMax) : scanRowsMax
      // What is still to be skipped goes on with the next page.
      if (isFiltered && budget <= 0) {
        return { entries: found, next: continuation(after, stream.sample, skip) }
      }
    }
  }
  return { entries: found }
}

function ended(found: readonly Entry[], limit: number): EntryPage {
  const entries = found.slice(0, limit)
  const next = entries.at(-1)
  return { entries, ...(next === undefined ? {} : { next: continuation(next.row, undefined) }) }
}

/** Where in a stream an entry stands: behind all of it, before all of it (undefined), or somewhere within. */
function placeOf(question: Question, stream: Stream, last: Entry): 'past' | Position | undefined {
  if (stream.sample !== undefined) {
    const sameRow = { ...last, row: stream.sample.row }
    const compared = question.compare(stream.sample, sameRow)
    if (compared !== 0) return compared < 0 ? 'past' : undefined
    return positionOf(stream.order, last.row)
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

/** All stretches of a stream as one, up to the first of their horizons. */
async function scanAll(
  { sql, limits }: LedgerParts,
  stream: Stream,
  after: Position | undefined,
  size: number,
): Promise<{ readonly rows: readonly Row[]; readonly horizon: Position | undefined }> {
  const { order, stretches } = stream
  const rows: Row[] = []
  let horizon: Position | undefined
  if (stretches.length > keysFrom && stretches.every(isBare)) {
    return scanKeys(sql, stream, after, size)
  }
  const scanRowsMax = Math.max(size, Math.ceil(limits.scanRowsMax / Math.max(1, stretches.length)))
  for (const stretch of stretches) {
    const scanned = await scan(sql, stretch, after, size, scanRowsMax)
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

/** Below this many stretches, their rows are read at once. */
const keysFrom = 2

function isBare({ dimensionId, conditions }: Stretch): boolean {
  return dimensionId !== undefined && conditions.length === 0
}

/** Many stretches that an index alone answers: where entries stand first, then the rows of those that come first. */
async function scanKeys(
  sql: Sql,
  { order, stretches }: Stream,
  after: Position | undefined,
  size: number,
): Promise<{ readonly rows: readonly Row[]; readonly horizon: Position | undefined }> {
  const positions: Position[] = []
  for (const stretch of stretches) {
    for (const one of await scanPositions(sql, stretch, after, size + 1)) positions.push(one)
  }
  positions.sort((a, b) => comparePositions(order, a, b))
  const kept = positions.slice(0, size)
  const found = await rowsOf(
    sql,
    kept.map(({ id }) => id),
  )
  const rows = kept.flatMap(({ id }) => found.get(id) ?? [])
  return { rows, horizon: positions.length > size ? kept.at(-1) : undefined }
}

/** Over many entries of one unfiltered stretch by its index alone; undefined where rows have to be read. */
async function skipAhead(
  sql: Sql,
  { stretches, order }: Stream,
  after: Position | undefined,
  skip: number,
): Promise<{ readonly skipped: number; readonly position: Position } | undefined> {
  const [stretch] = stretches
  if (stretch === undefined || stretches.length > 1 || skip < 100 || order.part === 'nulls') {
    return undefined
  }
  if (stretch.dimensionIds !== undefined || stretch.conditions.length > 0) return undefined
  const hop = Math.min(skip, skippedAtOnce)
  const position = await positionAfter(sql, stretch, after, hop)
  return position === undefined ? undefined : { skipped: hop, position }
}
