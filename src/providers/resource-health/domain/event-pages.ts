/**
 * Pages of events, newest update first. A page costs the page: a bounded number of narrow rows is looked at, and a
 * page of a choosy filter may come back short, with a link that goes on.
 */

import type { ListPage } from '#plane/declare/wire.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { boundedPage } from '#query/bounded-page.ts'
import type { Cursor, RangeRows } from '#query/keyset-page.ts'
import type { HealthEvent } from './event.ts'
import { type EventStore, type ListPosition, type PlaceQuery, readBytesMax } from './event-store.ts'

interface PageQuery extends Pick<PlaceQuery, 'since' | 'condition'> {
  readonly audiences: readonly string[]
  readonly cursor: string | undefined
  readonly limit: number
  /** Called for each event in order; its result becomes an item of the page. */
  show(event: HealthEvent): object | undefined
}

/** The number of events read for one page. A thousand would take twice as long, and block others meanwhile. */
const eventsMax = 500

export async function readPage(
  eventStore: EventStore,
  query: PageQuery,
): Promise<ListPage<object>> {
  let left = readBytesMax
  const { items, next } = await boundedPage<ListPosition, object>({
    after: parseCursor(query.cursor),
    pageSize: query.limit,
    rowsMax: eventsMax,
    rowsAtOnce: (missing) => missing,
    async read(after, limit) {
      if (left <= 0) return { rows: [], end: after }
      const { rows, end } = await merged(eventStore, query, after, limit)
      const ids = rows.map(({ id }) => id)
      const { count, bytes } = await eventStore.fitting(ids, left)
      left = count < rows.length ? 0 : left - bytes
      const fit = rows.slice(0, count)
      const last = fit.at(-1)
      return { rows: fit, end: count < rows.length && last !== undefined ? cursorOf(last) : end }
    },
    cursorOf,
    async show(places) {
      const events = await eventStore.findAll(places.map((place) => place.id))
      const shown: (object | undefined)[] = []
      for (const { id } of places) {
        await freeTurn()
        // An event that changed since its row was read is now further ahead.
        const event = events.get(id)
        shown.push(event === undefined ? undefined : query.show(event))
      }
      return shown
    },
  })
  return next === undefined ? { items } : { items, next: next.join(' ') }
}

/** The positions of all audiences in one order; each event once. */
async function merged(
  eventStore: EventStore,
  { audiences, since, condition }: PageQuery,
  after: Cursor | undefined,
  limit: number,
): Promise<RangeRows<ListPosition>> {
  const stretches = await Promise.all(
    audiences.map((audience) => eventStore.places({ audience, since, after, condition, limit })),
  )
  // Beyond the nearest end of an unfinished range, positions of another may still be missing.
  const ends = stretches.flatMap(({ end }) => (end === undefined ? [] : [placeAt(end)]))
  const edge = ends.toSorted(order)[0]
  const places = stretches
    .flatMap(({ rows }) => rows)
    .filter((place) => edge === undefined || order(place, edge) <= 0)
    .toSorted(order)
    .filter((place, index, all) => index === 0 || place.id !== all[index - 1]?.id)
  const rows = places.slice(0, limit)
  const end = places.length > limit ? rows.at(-1) : edge
  return { rows, end: end && cursorOf(end) }
}

function order(left: ListPosition, right: ListPosition): number {
  if (left.newest !== right.newest) return left.newest - right.newest
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0
}

function cursorOf({ newest, id }: ListPosition): Cursor {
  return [newest, id]
}

function placeAt([newest, id]: Cursor): ListPosition {
  return { newest: Number(newest), id: String(id) }
}

/** The plane signed it, so `readPage` made it. */
function parseCursor(cursor: string | undefined): Cursor | undefined {
  if (cursor === undefined) return undefined
  const space = cursor.indexOf(' ')
  return [Number(cursor.slice(0, space)), cursor.slice(space + 1)]
}
