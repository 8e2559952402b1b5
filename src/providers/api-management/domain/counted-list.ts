/**
 * Lists of this namespace (facts 3.2): filtered, with `$skip`, and with `count`, the number on all pages. A page
 * looks at a bounded number of rows; beyond it the count is left out.
 */

import { refuse } from '#kernel/error.ts'
import type { Field, FieldMap } from '#kernel/filter/field-map.ts'
import { filterOf } from '#kernel/filter/filter-of.ts'
import { defaultLimits } from '#kernel/limits.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { acceptedOf, freeTurn, nextTurn } from '#plane/next-turn.ts'

/** The position in a list. The plane signs it, so it is what was written here. */
interface Cursor {
  readonly after: string
  /** The number of matches still to be skipped. */
  readonly skip: number
  readonly count?: number
}

/** The query options of these lists. */
export const countedQuery = { list: ['$filter', '$skip'] }

const rowsAtOnceMax = 500

interface CountedListOptions<M> {
  readonly scanRowsMax?: number
  /** Items that are not stored. Each is shown where its id stands in the order of keys. */
  unstored?(context: ListContext): Promise<readonly Resource<M>[]>
  /** What is shown for an item; undefined leaves it out. Each may have megabytes, and the page ends with the one that reaches its limit. */
  shown?(context: ListContext, item: Resource<M>): Promise<Resource<M> | undefined>
}

/** The list of a type, with fields of its stored resources. */
export function countedList<M>(
  type: string,
  fields: Readonly<Record<string, Field<Resource<M>>>>,
  { scanRowsMax = defaultLimits.filterScanRowsMax, unstored, shown }: CountedListOptions<M> = {},
): (context: ListContext) => Promise<ListPage<Resource<M>>> {
  const map: FieldMap<Resource<M>> = { fields, lenient: true, optionalPrefix: 'properties' }
  return async (context) => {
    const filter = context.query.get('$filter') ?? ''
    const matches = filterOf(filter, map)
    const { reader, parent: under, limit } = context
    // Cursors are written below and signed by the plane.
    const cursor = context.cursor === undefined ? undefined : (JSON.parse(context.cursor) as Cursor)
    let skip = cursor?.skip ?? skipOf(context.query)
    let { after } = cursor ?? { after: undefined }
    const isFirst = cursor === undefined
    const countsByScan = isFirst && filter.trim() !== ''
    const extra = (await unstored?.(context)) ?? []
    const budgetMax = Math.max(scanRowsMax, limit + 1)
    const count = !isFirst
      ? cursor?.count
      : countsByScan
        ? await countMatches(context, { type, matches, extra, budget: budgetMax })
        : sumOf(await countOf(reader, type, under, scanRowsMax), extra.length)
    const items: Resource<M>[] = []
    let lastShown: string | undefined
    let hasMore = false
    let isExhausted = false
    let budget = budgetMax
    let waiting = extra.filter(({ id }) => after === undefined || id.key > after)
    while (budget > 0 && !isExhausted && !hasMore) {
      const size = Math.min(budget, rowsAtOnceMax, countsByScan ? rowsAtOnceMax : skip + limit + 1)
      // The type's `toModel` made the rows.
      const page = await reader.page({ type, under, after, limit: size })
      const stored = page.items as readonly Resource<M>[]
      budget -= size
      isExhausted = page.next === undefined
      const end = isExhausted ? undefined : stored.at(-1)?.id.key
      const rows = inOrder(stored, waiting, end)
      waiting = waiting.filter(({ id }) => end !== undefined && id.key > end)
      for (const row of rows) {
        after = row.id.key
        await freeTurn()
        if (!matches(row)) continue
        if (skip > 0) {
          skip--
        } else if (items.length < limit) {
          items.push(row)
          lastShown = after
        } else {
          hasMore = true
        }
      }
      // The byte limit ended the read, and ends the page.
      if (page.isShort === true) break
      if (!isExhausted && !hasMore) await nextTurn()
    }
    const all = shown === undefined ? { items } : await showEach(context, items, shown)
    const from = all.cutAt ?? (hasMore ? lastShown : isExhausted ? undefined : after)
    return {
      items: all.items,
      ...(count === undefined ? {} : { count }),
      ...(from === undefined
        ? {}
        : { next: nextOf({ after: from, skip, ...(count === undefined ? {} : { count }) }) }),
    }
  }
}

interface Counting<M> {
  readonly type: string
  readonly matches: (item: Resource<M>) => boolean
  readonly extra: readonly Resource<M>[]
  readonly budget: number
}

/**
 * The matches of a whole list; undefined where it has more rows than the budget. Before the page is read: what is shown may
 * be a hundred megabytes of objects, and is in memory as long as more is read.
 */
async function countMatches<M>(
  { reader, parent: under }: ListContext,
  { type, matches, extra, budget }: Counting<M>,
): Promise<number | undefined> {
  let count = (await acceptedOf(extra, matches)).length
  let after: string | undefined
  const countPage = async (limit: number): Promise<void> => {
    const page = await reader.page({ type, under, after, limit })
    // The type's `toModel` made the rows.
    count += (await acceptedOf(page.items as readonly Resource<M>[], matches)).length
    after = page.next
  }
  for (let left = budget; left > 0; left -= rowsAtOnceMax) {
    await countPage(Math.min(left, rowsAtOnceMax))
    if (after === undefined) return count
    await nextTurn()
  }
  return undefined
}

/** One after the other. `cutAt` is the last one that was looked at, where others are left. */
async function showEach<M>(
  context: ListContext,
  items: readonly Resource<M>[],
  shown: NonNullable<CountedListOptions<M>['shown']>,
): Promise<{ readonly items: readonly Resource<M>[]; readonly cutAt?: string }> {
  const found: Resource<M>[] = []
  let left = defaultLimits.pageBytesMax
  for (const [at, item] of items.entries()) {
    if (left <= 0) return { items: found, cutAt: items[at - 1]?.id.key ?? '' }
    const one = await shown(context, item)
    if (one === undefined) continue
    left -= JSON.stringify(one.model).length
    found.push(one)
  }
  return { items: found }
}

/** Stored rows, and those of the others that stand among them: up to `end`, or all. */
function inOrder<M>(
  stored: readonly Resource<M>[],
  others: readonly Resource<M>[],
  end: string | undefined,
): readonly Resource<M>[] {
  const among = others.filter(({ id }) => end === undefined || id.key < end)
  if (among.length === 0) return stored
  return [...stored, ...among].sort((a, b) => (a.id.key < b.id.key ? -1 : 1))
}

function sumOf(stored: number | undefined, unstored: number): number | undefined {
  return stored === undefined ? undefined : stored + unstored
}

function nextOf(cursor: Cursor): string {
  return JSON.stringify(cursor)
}

async function countOf(
  reader: ListContext['reader'],
  type: string,
  under: ListContext['parent'],
  most: number,
): Promise<number | undefined> {
  const count = await reader.count({ type, under, limit: most + 1 })
  return count > most ? undefined : count
}

/** `$skip` of a first page. */
export function skipOf(query: URLSearchParams): number {
  const given = query.get('$skip')
  if (given === null) return 0
  if (!/^[0-9]{1,9}$/.test(given)) {
    throw refuse.InvalidQueryParameter({ name: '$skip', reason: 'expected a whole number from 0' })
  }
  return Number(given)
}
