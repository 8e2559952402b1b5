/**
 * Pages of events, newest update first. A page costs the page: narrow rows are looked at in bounded stretches, and
 * a page of a choosy filter may come back short, with a link that goes on.
 */

import type { ListPage } from '#plane/define.ts'
import type { HealthEvent } from './event.ts'
import type { Ledger, Narrowing, Place } from './ledger.ts'

export interface PageQuery {
  readonly audiences: readonly string[]
  readonly since: number
  readonly narrowing: Narrowing | undefined
  readonly cursor: string | undefined
  readonly limit: number
  /** Asked of each event in order; what it answers stands in the page. */
  show(event: HealthEvent): object | undefined
}

/** Events read for one page. A thousand take twice as long, and a page as long as it takes holds up others. */
const eventsMax = 500

export async function readPage(ledger: Ledger, query: PageQuery): Promise<ListPage<object>> {
  const items: object[] = []
  let after = parseCursor(query.cursor)
  for (let read = 0; ; ) {
    const wanted = Math.min(Math.max(query.limit - items.length, 1) + 1, eventsMax)
    const { places, end } = await merged(ledger, query, after, wanted)
    const events = await ledger.findAll(places.map((place) => place.id))
    for (const place of places) {
      if (items.length === query.limit) return { items, ...nextOf(after) }
      const event = events.get(place.id)
      // An event changed since its row was read stands further ahead now.
      const item = event === undefined ? undefined : query.show(event)
      if (item !== undefined) items.push(item)
      after = place
    }
    if (end === undefined) return { items }
    after = end
    read += places.length
    if (items.length === query.limit || read >= eventsMax || places.length === 0) {
      return { items, ...nextOf(after) }
    }
  }
}

/** The places of all audiences as one order; each event once. */
async function merged(
  ledger: Ledger,
  { audiences, since, narrowing }: PageQuery,
  after: Place | undefined,
  limit: number,
): Promise<{ readonly places: readonly Place[]; readonly end: Place | undefined }> {
  const stretches = await Promise.all(
    audiences.map((audience) => ledger.places({ audience, since, after, narrowing, limit })),
  )
  // Beyond the nearest end of a stretch that goes on, another's places may still be missing.
  const ends = stretches.flatMap((one) => (one.end === undefined ? [] : [one.end]))
  const edge = ends.toSorted(order)[0]
  const places = stretches
    .flatMap((one) => one.places)
    .filter((place) => edge === undefined || order(place, edge) <= 0)
    .toSorted(order)
    .filter((place, index, all) => index === 0 || place.id !== all[index - 1]?.id)
  if (places.length <= limit) return { places, end: edge }
  const kept = places.slice(0, limit)
  return { places: kept, end: kept.at(-1) }
}

function order(left: Place, right: Place): number {
  if (left.newest !== right.newest) return left.newest - right.newest
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0
}

function nextOf(place: Place | undefined): { readonly next?: string } {
  return place === undefined ? {} : { next: `${place.newest} ${place.id}` }
}

/** Signed by the plane, so it is one that `nextOf` made. */
function parseCursor(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  const space = cursor.indexOf(' ')
  return { newest: Number(cursor.slice(0, space)), id: cursor.slice(space + 1) }
}
