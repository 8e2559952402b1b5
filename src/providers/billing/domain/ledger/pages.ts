/**
 * Answers questions page by page. A page costs the page: it walks an index in the order asked, from the entry the
 * last page ended with, over a bounded number of rows; what describes many entries at once is decided ahead, from
 * the dimensions of the statements alone. Entries never change, so an entry is all a continuation has to name.
 */

import { acceptedOf, nextTurn } from '#plane/next-turn.ts'
import { refuseBilling } from '../../errors.ts'
import { type Continuation, continuation, continued, ended, isAhead } from './continuation.ts'
import { byId, entriesOf } from './entries.ts'
import type { Entry, Row } from './entry.ts'
import { totalOrder } from './order.ts'
import type { EntryPage, LedgerDependencies, PageRequest } from './page.ts'
import { type PartialOrderRead, readPartialOrder } from './partial-order.ts'
import type { Condition } from './query.ts'
import { placeOf, scanAll, skipAhead } from './read-stream.ts'
import { fewCandidates, type Position } from './scan.ts'
import { type Selection, selectDimensions } from './selection.ts'
import { streamsOf } from './streams.ts'

const everything: Condition = { column: 'date', text: 'date > ?', values: [-8_640_000_000_000_000] }
export async function readPage(deps: LedgerDependencies, request: PageRequest): Promise<EntryPage> {
  const { query, words } = request
  const statements = request.statements.filter(({ entries }) => entries > 0)
  let selection = await selectDimensions(deps, statements, query, words)
  if (selection.isEmpty) return { entries: [] }
  const asked = { ...request, statements }
  const from = await continued(deps, asked)
  const isFiltered = query.conditions.length > 0 || query.needsEntries || selection.narrows
  let walk = streamsOf(deps, asked, selection)
  if (isFiltered || walk === undefined) {
    const candidates = await candidatesOf(deps, asked, selection)
    if (candidates !== undefined) return sortedPage(asked, candidates, from)
  }
  if (selection.named.length > 0 && selection.whole !== undefined) {
    selection = selection.whole
    walk = streamsOf(deps, asked, selection)
  }
  if (walk === undefined) {
    throw refuseBilling.OrderTooExpensive({
      order: query.orderText,
      reason: `no index begins with the first field, and more than ${deps.limits.sortRowsMax} would have to be sorted`,
      limit: deps.limits.sortRowsMax,
    })
  }
  const walking = { deps, request: asked, selection, ...walk, from, isFiltered }
  return walk.isPartialOrder ? readPartialOrder(walking) : walkPage(walking)
}

/** All entries that may match, when there are few; undefined when there are many or it is unknown. */
async function candidatesOf(
  deps: LedgerDependencies,
  { query, statements }: PageRequest,
  selection: Selection,
): Promise<readonly Entry[] | undefined> {
  const { sortRowsMax, partRows } = deps.limits
  const rows: Row[] = []
  for (const statement of statements) {
    const left = sortRowsMax - rows.length
    const chosen = selection.of(statement.id)
    if (chosen?.entries === 0) continue
    const count = Math.ceil(statement.entries / partRows)
    let found: readonly Row[] | undefined
    if (chosen !== undefined && chosen.entries <= left) {
      found = await fewCandidates(
        deps.sql,
        { statementId: statement.id, count },
        { dimensionIds: chosen.ids },
        left,
      )
    }
    for (const condition of query.conditions) {
      // Entries without a value are not in an index that holds only values.
      if (found !== undefined || condition.values.length === 0) continue
      found = await fewCandidates(
        deps.sql,
        { statementId: statement.id, count },
        { condition },
        left,
      )
    }
    if (found === undefined && statement.entries <= left) {
      found = await fewCandidates(
        deps.sql,
        { statementId: statement.id, count },
        { condition: everything },
        left,
      )
    }
    if (found === undefined) return undefined
    rows.push(...found)
  }
  const entries = await entriesOf(deps, rows, byId(statements))
  const shared = await acceptedOf(entries, (entry) => selection.allows(entry))
  return acceptedOf([...shared, ...selection.named], (entry) => query.holds(entry))
}

function sortedPage(
  { query, limit, skip }: PageRequest,
  candidates: readonly Entry[],
  from: Continuation | undefined,
): EntryPage {
  const compare = totalOrder(query)
  const sorted = candidates.toSorted(compare)
  const rest = from === undefined ? sorted : sorted.filter(isAhead(from, query, compare))
  const start = from?.skip ?? skip
  const entries = rest.slice(start, start + limit)
  const next = rest.length > start + limit ? entries.at(-1) : undefined
  return { entries, ...(next === undefined ? {} : { next: continuation(next.row) }) }
}

async function walkPage(walking: PartialOrderRead): Promise<EntryPage> {
  const { deps, request, selection, streams, grouped, from, isFiltered } = walking
  const { query, limit } = request
  const { scanRowsMax, readRowsMax, skippedRowsMax } = deps.limits
  const statements = byId(request.statements)
  const readsEach = query.needsEntries || selection.isPartial
  const found: Entry[] = []
  const last = from?.last
  let skip = from?.skip ?? request.skip
  let budget = scanRowsMax
  let passed = 0
  for (const stream of streams) {
    let after: Position | undefined
    if (last !== undefined) {
      const place = placeOf(query, grouped, stream, last)
      if (place === 'past') continue
      after = place
    }
    for (;;) {
      if (passed >= skippedRowsMax && skip > 0 && after !== undefined) {
        return { entries: [], next: continuation(after, stream.sample, skip) }
      }
      if (!isFiltered && skip > 0) {
        const most = Math.min(skip, skippedRowsMax)
        const hop = await skipAhead(deps.sql, stream, after, most)
        if (hop !== undefined) {
          skip -= hop.skipped
          passed += hop.skipped
          after = hop.position
          await nextTurn()
          continue
        }
      }
      const missing = limit + 1 - found.length
      const size = readsEach ? Math.min(readRowsMax, scanRowsMax) : Math.min(1000, missing + skip)
      const seen = await scanAll(deps, stream, after, size)
      const entries = await acceptedOf(
        await entriesOf(deps, seen.rows, statements),
        (entry) => selection.allows(entry) && query.holds(entry),
      )
      const skipped = Math.min(skip, entries.length)
      skip -= skipped
      passed += skipped
      found.push(...entries.slice(skipped))
      if (found.length > limit) return ended(found, limit)
      if (seen.horizon === undefined) break
      after = seen.horizon
      if (skipped > 0) {
        await nextTurn()
        continue
      }
      const walked = readsEach ? Math.ceil((size * scanRowsMax) / readRowsMax) : scanRowsMax
      // When many ranges contribute, they are read bit by bit, and found without reading far.
      budget -= seen.rows.length * 4 >= missing ? walked / 4 : walked
      // Entries still to be skipped are skipped on the next page.
      if (isFiltered && budget <= 0) {
        return { entries: found, next: continuation(after, stream.sample, skip) }
      }
    }
  }
  return { entries: found }
}
