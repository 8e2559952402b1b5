/**
 * Turns the order of a query into streams: ranges of indexes, one after the other. It decides which index serves,
 * and reads nothing.
 */

import type { BillingLimits } from '../limits.ts'
import { orderedColumns } from '../migrations.ts'
import type { Entry, Statement } from './entry.ts'
import type { LedgerField } from './fields.ts'
import type { KnownDimension, KnownStatements } from './known-statements.ts'
import type { LedgerDependencies, PageRequest } from './page.ts'
import type { LedgerQuery, OrderTerm } from './query.ts'
import { type IndexOrder, type IndexRange, partsOf } from './scan.ts'
import type { Selection } from './selection.ts'

/** Streams are read one after the other: all entries of one come before all of the next. */
export interface Stream {
  readonly order: IndexOrder
  readonly stretches: readonly IndexRange[]
  /** An entry of this group; the grouping terms of its order tell what is before and after the group. */
  readonly sample: Entry | undefined
  /** The number of leading terms in whose order the entries come; ties in these must be sorted. */
  readonly served: number
}

interface Streams {
  readonly streams: Iterable<Stream>
  /** The number of leading terms that made the groups. */
  readonly grouped: number
  /** Whether ties must be sorted. */
  readonly isPartialOrder: boolean
}

/** The number of positions in the dimension index that are read for one page. */
const placesMax = 2000
/** The same, each by a statement of its own. */
const stretchesMax = 500

/** The order as streams; undefined when no index begins with it. */
export function streamsOf(
  { known, limits }: LedgerDependencies,
  { query, statements }: PageRequest,
  selection: Selection,
): Streams | undefined {
  const { order } = query
  const shared = order.findIndex(({ field }) => !isShared(field))
  const grouped = shared < 0 ? order.length : shared
  const term = order[grouped]
  const isPartialOrder =
    order.length > grouped + 1 || (grouped > 0 && term !== undefined && !isDate(term))
  if (grouped === 0) {
    if (term?.field.place.kind !== 'column') return undefined
    const streams = byColumn(term, (part) => ({
      stretches: statements.flatMap((statement) =>
        stretchesOf(limits, query, { statement, chosen: selection.of(statement.id) }, part),
      ),
      sample: undefined,
      served: 1,
    }))
    return { streams, grouped, isPartialOrder }
  }
  const sorted = samplesOf(known, { query, selection, grouped }, statements)
  if (sorted === undefined) return undefined
  const grouping = { limits, query, selection, grouped, isPartialOrder }
  return { streams: groupsOf(grouping, sorted), grouped, isPartialOrder }
}

function isShared({ place }: LedgerField): boolean {
  return place.kind === 'dimension' || place.kind === 'statement'
}

function isDate({ field }: OrderTerm): boolean {
  return field.path === 'properties/date'
}

/** The order by one column: a missing value is less than everything. */
function byColumn(
  { field, descending }: OrderTerm,
  make: (order: IndexOrder) => Omit<Stream, 'order'>,
): readonly Stream[] {
  if (field.place.kind !== 'column') throw new Error(`${field.path} has no column`)
  const { column } = field.place
  const stream = (part: IndexOrder['part']): Stream => {
    const order = { column, descending, part }
    return { order, ...make(order) }
  }
  if (orderedColumns[column] === 'always') return [stream('values')]
  const both = [stream('nulls'), stream('values')]
  return descending ? both.reverse() : both
}

/** The matching dimensions in the order of the query; undefined when there are too many. */
function samplesOf(
  cache: KnownStatements,
  {
    query,
    selection,
    grouped,
  }: { readonly query: LedgerQuery; readonly selection: Selection; readonly grouped: number },
  statements: readonly Statement[],
): readonly Sample[] | undefined {
  const sorted: Sample[] = []
  for (const statement of statements) {
    const all = selection.all(statement.id)
    if (all === undefined) return undefined
    const compare = (a: KnownDimension, b: KnownDimension): number =>
      query.compareFirst(
        grouped,
        entryOfSample(selection, { statement, known: a }),
        entryOfSample(selection, { statement, known: b }),
      )
    const chosen = new Set(selection.known(statement.id))
    for (const known of cache.derived(all, query.orderText, () => all.toSorted(compare))) {
      if (chosen.has(known)) sorted.push({ statement, known })
    }
  }
  if (statements.length > 1) {
    sorted.sort((a, b) =>
      query.compareFirst(grouped, entryOfSample(selection, a), entryOfSample(selection, b)),
    )
  }
  return sorted
}

interface Sample {
  readonly statement: Statement
  readonly known: KnownDimension
}

function entryOfSample({ noRow }: Selection, { statement, known }: Sample): Entry {
  return { row: { ...noRow, dimensionId: known.id }, dimension: known.dimension, statement }
}

interface Grouping {
  readonly query: LedgerQuery
  readonly selection: Selection
  readonly grouped: number
  readonly isPartialOrder: boolean
  readonly limits: BillingLimits
}

/** One at a time: a page usually needs only the first. */
function* groupsOf(grouping: Grouping, sorted: readonly Sample[]): Generator<Stream> {
  const { query, selection, grouped } = grouping
  for (let from = 0; from < sorted.length; ) {
    const begun = sorted[from]
    if (begun === undefined) return
    const sample = entryOfSample(selection, begun)
    let end = from + 1
    for (; end < sorted.length; end++) {
      const here = sorted[end]
      if (here === undefined) break
      if (query.compareFirst(grouped, sample, entryOfSample(selection, here)) !== 0) break
    }
    yield* streamsOfGroup(grouping, sample, sorted.slice(from, end))
    from = end
  }
}

function streamsOfGroup(
  { limits, query, grouped, isPartialOrder }: Grouping,
  sample: Entry,
  group: readonly Sample[],
): readonly Stream[] {
  const members = [...Map.groupBy(group, ({ statement }) => statement)].map(
    ([statement, some]) => ({
      statement,
      ids: some.map(({ known }) => known.id),
      entries: some.reduce((sum, { known }) => sum + known.entries, 0),
    }),
  )
  const stretches = (order: IndexOrder): readonly IndexRange[] =>
    members.flatMap(({ statement, ...chosen }) =>
      stretchesOf(limits, query, { statement, chosen }, order),
    )
  const term = query.order[grouped]
  const size = members.reduce((sum, { entries }) => sum + entries, 0)
  const isSorted =
    isPartialOrder && (size <= limits.tieRowsMax / 10 || term?.field.place.kind !== 'column')
  if (isSorted || term === undefined) {
    // Without a requested date order, the newest entries of a group come first.
    const order: IndexOrder = { column: 'date', descending: true, part: 'values' }
    return [{ order, sample, served: grouped, stretches: stretches(order) }]
  }
  return byColumn(term, (order) => ({ sample, served: grouped + 1, stretches: stretches(order) }))
}

function stretchesOf(
  { partRows, rarePart, pickedRowsMax }: BillingLimits,
  { conditions }: LedgerQuery,
  {
    statement,
    chosen,
  }: {
    readonly statement: Statement
    readonly chosen: { readonly ids: readonly number[]; readonly entries: number } | undefined
  },
  order: IndexOrder,
): readonly IndexRange[] {
  if (chosen?.entries === 0) return []
  const all = partsOf(order, statement.entries, partRows).map((part): IndexRange => {
    return { statementId: statement.id, part, conditions, order }
  })
  if (chosen === undefined) return all
  const isRare = chosen.entries < statement.entries * rarePart || chosen.ids.length === 1
  if (order.column === 'date' && isRare) {
    const places = chosen.ids.length * all.length
    if (chosen.entries <= pickedRowsMax && places <= placesMax) {
      return all.map((one) => ({ ...one, byDimension: chosen.ids }))
    }
    if (places <= stretchesMax) {
      return chosen.ids.flatMap((id) => all.map((one) => ({ ...one, byDimension: [id] })))
    }
  }
  return all.map((one) => ({ ...one, dimensionIds: chosen.ids }))
}
