/**
 * Pages of an order that no single index has: an index serves its first terms, and ties in those are sorted. No
 * more ties are kept than the page shows; beyond a limit of ties the order is refused.
 */

import { freeTurn, nextTurn } from '#plane/next-turn.ts'
import { refuseBilling } from '../../errors.ts'
import { type Continuation, continuationBefore, ended, isAhead } from './continuation.ts'
import { byId, entriesOf } from './entries.ts'
import type { Entry, Row } from './entry.ts'
import { totalOrder } from './order.ts'
import type { EntryPage, LedgerDependencies, PageRequest } from './page.ts'
import { placeOf, scanAll } from './read-stream.ts'
import { type Position, positionOf, rowsOf, scanAlike } from './scan.ts'
import type { Selection } from './selection.ts'
import type { Stream } from './streams.ts'

/** The state of a query that is reading the streams of its order. */
export interface PartialOrderRead {
  readonly deps: LedgerDependencies
  readonly request: PageRequest
  readonly selection: Selection
  readonly streams: Iterable<Stream>
  readonly grouped: number
  readonly from: Continuation | undefined
  readonly isFiltered: boolean
}

const rowsAtFirst = 128
const rowsAtOnce = 1000

export async function readPartialOrder(walking: PartialOrderRead): Promise<EntryPage> {
  const page = new Page(walking)
  for (const stream of walking.streams) {
    const isDone = await page.walk(stream)
    if (isDone) break
  }
  return page.end()
}

/** Keeps the smallest so many of the added entries. */
class Smallest {
  readonly #compare: (a: Entry, b: Entry) => number
  readonly #max: number
  #kept: Entry[] = []
  #last: Entry | undefined

  constructor(compare: (a: Entry, b: Entry) => number, max: number) {
    this.#compare = compare
    this.#max = max
  }

  add(entry: Entry): void {
    if (this.#last !== undefined && this.#compare(entry, this.#last) >= 0) return
    this.#kept.push(entry)
    if (this.#kept.length < 2 * this.#max + rowsAtOnce) return
    this.#kept = this.sorted()
    this.#last = this.#kept.at(-1)
  }

  sorted(): Entry[] {
    return this.#kept.sort(this.#compare).slice(0, this.#max)
  }
}

class Page {
  readonly #walking: PartialOrderRead
  readonly #compare: (a: Entry, b: Entry) => number
  readonly #isWanted: (entry: Entry) => boolean
  readonly #columns: readonly string[] | undefined
  readonly #found: Entry[] = []
  #skip: number
  #budget: number
  #next: string | undefined

  constructor(walking: PartialOrderRead) {
    const { deps, request, from } = walking
    const { query } = request
    this.#walking = walking
    this.#compare = totalOrder(query)
    this.#isWanted = from === undefined ? () => true : isAhead(from, query, this.#compare)
    this.#columns = columnsOf(walking)
    this.#skip = from?.skip ?? request.skip
    this.#budget = deps.limits.tieRowsMax
  }

  /** True when the page is full, or must end here. */
  async walk(stream: Stream): Promise<boolean> {
    const { deps, request, selection, grouped, from, isFiltered } = this.#walking
    const { query } = request
    const { scanRowsMax, tieRowsMax } = deps.limits
    const statements = byId(request.statements)
    const place = from && placeOf(query, grouped, stream, from.last)
    if (place === 'past') return false
    // A whole group in any order, or all entries without a value: one tie from end to end.
    const isNulls = stream.order.part === 'nulls'
    const isWhole = stream.served === grouped || isNulls
    const begun = isWhole ? undefined : beforeTies(stream, place)
    const sliced = this.#slice(stream)
    let ties: Smallest | undefined
    let alike: Entry | undefined
    let walkedAlike = 0
    const isFull = async (rows: readonly Row[]): Promise<boolean> => {
      for (const entry of await entriesOf(deps, rows, statements)) {
        await freeTurn()
        if (!selection.allows(entry) || !query.holds(entry) || !this.#isWanted(entry)) continue
        if (alike !== undefined && query.compareFirst(stream.served, alike, entry) !== 0) {
          if (this.#take(ties)) return true
          ties = undefined
        }
        alike = entry
        ties ??= new Smallest(this.#compare, this.#missing())
        ties.add(entry)
      }
      return false
    }
    const count = (walked: number, isSame: boolean): void => {
      walkedAlike = isSame ? walkedAlike + walked : 0
      if (walkedAlike > tieRowsMax) this.#refuse(stream)
      this.#budget -= walked
    }
    for (let after = begun, size = rowsAtFirst; ; size = Math.min(2 * size, rowsAtOnce)) {
      const seen = await scanAll(deps, sliced, after, size)
      if (await isFull(seen.rows)) return true
      const { horizon } = seen
      if (horizon === undefined) return this.#take(ties)
      const isAlike = isNulls || (after !== undefined && after.value === horizon.value)
      count(isFiltered ? scanRowsMax : seen.rows.length, isWhole || isAlike)
      after = horizon
      if (isAlike) {
        // One range after the other: in a common order each would be asked for what only one has.
        for (const range of sliced.stretches) {
          for (let at: Position | undefined = horizon; at !== undefined; await nextTurn()) {
            const rest = await scanAlike(deps.sql, range, at, { limit: rowsAtOnce, scanRowsMax })
            if (await isFull(rest.rows)) return true
            at = rest.horizon
            count(isFiltered && at !== undefined ? scanRowsMax : rest.rows.length, true)
          }
        }
        if (isNulls) return this.#take(ties)
        after = behindTies(stream, horizon)
      }
      const mayEnd = isFiltered && this.#budget <= 0 && !isWhole && begun?.value !== after.value
      if (mayEnd && (alike === undefined || !isAt(stream, alike, after))) {
        if (this.#take(ties)) return true
        // The horizon is an entry's own position, as a continuation requires.
        this.#next = continuationBefore(stream.served, horizon, stream.sample, this.#skip)
        return true
      }
      await nextTurn()
    }
  }

  /** All ties are known: they are next on the page. True when the page is full. */
  #take(ties: Smallest | undefined): boolean {
    const sorted = ties?.sorted() ?? []
    const skipped = Math.min(this.#skip, sorted.length)
    this.#skip -= skipped
    this.#found.push(...sorted.slice(skipped))
    const { limit } = this.#walking.request
    if (this.#found.length <= limit) return false
    this.#next = ended(this.#found, limit).next
    return true
  }

  #missing(): number {
    return this.#walking.request.limit + 1 - this.#found.length + this.#skip
  }

  #slice(stream: Stream): Stream {
    const columns = this.#columns
    if (columns === undefined) return stream
    const all = [...new Set([...columns, stream.order.column])]
    return { ...stream, stretches: stream.stretches.map((one) => ({ ...one, columns: all })) }
  }

  #refuse({ served }: Stream): never {
    const { deps, request } = this.#walking
    const { tieRowsMax } = deps.limits
    const by = request.query.order
      .slice(0, Math.max(1, served))
      .map(({ field }) => field.path)
      .join(', ')
    throw refuseBilling.OrderTooExpensive({
      order: request.query.orderText,
      reason: `more than ${tieRowsMax} are alike by ${by}, and would have to be sorted for a page`,
      limit: tieRowsMax,
    })
  }

  /** The complete entries of the page: for the order only parts of them were read. */
  async end(): Promise<EntryPage> {
    const { deps, request } = this.#walking
    const ids = this.#found.slice(0, request.limit).map(({ row }) => row.id)
    const rows = await rowsOf(deps.sql, ids)
    const whole = ids.flatMap((id) => rows.get(id) ?? [])
    const entries = await entriesOf(deps, whole, byId(request.statements))
    return { entries, ...(this.#next === undefined ? {} : { next: this.#next }) }
  }
}

/** The position before all entries with its value. */
function beforeTies({ order }: Stream, place: Position | undefined): Position | undefined {
  if (place === undefined) return undefined
  return { value: place.value, id: order.descending ? Number.MAX_SAFE_INTEGER : -1 }
}

/** The position after all entries with the same value. */
function behindTies({ order }: Stream, { value }: Position): Position {
  return { value, id: order.descending ? -1 : Number.MAX_SAFE_INTEGER }
}

/** Whether the entry has the value of a position. */
function isAt({ order }: Stream, { row }: Entry, { value }: Position): boolean {
  return positionOf(order, row)?.value === value
}

/** The columns that order, filter and search read; undefined when any may be. */
function columnsOf({ request, selection }: PartialOrderRead): readonly string[] | undefined {
  const { order, needsEntries, conditions } = request.query
  if (needsEntries || selection.isPartial || order.some(({ field }) => field.place.kind === 'made'))
    return undefined
  return [
    ...['id', 'statement_id', 'dimension_id', 'date'],
    ...order.flatMap(({ field }) => (field.place.kind === 'column' ? [field.place.column] : [])),
    ...conditions.map(({ column }) => column),
  ]
}
