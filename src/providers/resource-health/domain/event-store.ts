/** Stores events and their audiences: written completely in one transaction, read by key or in keyset order. */

import { freeTurn } from '#plane/next-turn.ts'
import {
  type Cursor,
  type KeysetRange,
  type OrderKey,
  type RangeRows,
  readRange,
  readWindow,
} from '#query/keyset-page.ts'
import type { ConditionWriter } from '#query/predicate.ts'
import { composer } from '#query/statement.ts'
import { type Sql, type SqlRow, type SqlTx, StoreConflict } from '#stores/store.ts'
import type { HealthEvent } from './event.ts'
import { namedSubscriptions, regionsOf, servicesOf } from './event-transitions.ts'

export const everybody = '*'
export const installation = '/'

/** A position in a list: the newest update first, then by tracking id. */
export interface ListPosition {
  /** The negated time of the last update. */
  readonly newest: number
  readonly id: string
}

export interface PlaceQuery {
  readonly audience: string
  /** Events last updated at this moment or later. */
  readonly since: number
  readonly after: Cursor | undefined
  /** The condition that rows of wanted events meet; the event itself may be checked further. */
  readonly condition: ConditionWriter
  readonly limit: number
}

/** The newest update first, then by tracking id. */
const order: readonly OrderKey[] = [
  { type: 'whole', text: 'newest', direction: 'asc' },
  { type: 'text', text: 'tracking_id', direction: 'asc' },
]

/** The bytes of events that are in memory together for one answer. An event may have a megabyte. */
export const readBytesMax = 2 * 1024 * 1024

/** The number of rows read for one page, wanted or not. */
const windowMax = 4000

export interface EventStore {
  find(trackingId: string): Promise<HealthEvent | undefined>
  /** How many of the first ones, at least one, have as many bytes together, and their bytes. */
  fitting(
    trackingIds: readonly string[],
    bytesMax: number,
  ): Promise<{ readonly count: number; readonly bytes: number }>
  /** The first ones, as many as are read together (`readBytesMax`). */
  findAll(trackingIds: readonly string[]): Promise<ReadonlyMap<string, HealthEvent>>
  places(query: PlaceQuery): Promise<RangeRows<ListPosition>>
  /** Reads, changes and writes one event without interference. When `change` throws, nothing happens. */
  change(
    trackingId: string,
    change: (event: HealthEvent | undefined) => HealthEvent,
    also?: (tx: SqlTx) => Promise<void>,
  ): Promise<HealthEvent>
}

/** The condition on rows: the event has not ended. */
export const isActive = (sql: Parameters<ConditionWriter>[0]) => sql<boolean>`status = ${'active'}`

/** Before every possible moment. A whole number, like all times in the tables. */
export const beginningOfTime = -(2 ** 52)

export function openEventStore(sql: Sql): EventStore {
  return {
    async find(trackingId) {
      const [row] = await sql.all(
        'select document from health_events where tracking_id = ?',
        trackingId.toLowerCase(),
      )
      return row === undefined ? undefined : eventOf(row)
    },
    fitting: (trackingIds, bytesMax) => fitting(sql, trackingIds, bytesMax),
    async findAll(trackingIds) {
      const { count } = await fitting(sql, trackingIds, readBytesMax)
      const found = new Map<string, HealthEvent>()
      if (count === 0) return found
      const read = trackingIds.slice(0, count)
      const rows = await sql.all(
        `select tracking_id, document from health_events
          where tracking_id in (${read.map(() => '?').join(', ')})`,
        ...read,
      )
      const documents = new Map(rows.map((row) => [String(row['tracking_id']), row]))
      for (const id of read) {
        const row = documents.get(id)
        if (row !== undefined) found.set(id, eventOf(row))
        await freeTurn()
      }
      return found
    },
    async places({ audience, since, after, condition, limit }) {
      const composing = await composer()
      const range: KeysetRange = {
        table: 'health_audiences',
        where: [composing.sql`audience = ${audience}`, composing.sql`newest <= ${-since}`],
        order,
        columns: [],
        isNarrow: true,
      }
      const requested = condition(composing.sql)
      const { rows, end } =
        requested === undefined
          ? await readRange(composing, sql, range, { after, limit })
          : await readWindow(composing, sql, range, {
              after,
              condition: requested,
              window: windowMax,
              limit,
            })
      return { rows: rows.map(placeOf), end }
    },
    change(trackingId, change, also) {
      const key = trackingId.toLowerCase()
      return sql.transact(async (tx) => {
        // The write comes first: it blocks every other writer of this event until the end.
        await tx.run('update health_events set revision = revision + 1 where tracking_id = ?', key)
        const [row] = await tx.all('select document from health_events where tracking_id = ?', key)
        const event = change(row === undefined ? undefined : eventOf(row))
        await writeEvent(tx, key, event, row === undefined)
        await also?.(tx)
        return event
      })
    },
  }
}

async function fitting(
  sql: Sql,
  trackingIds: readonly string[],
  bytesMax: number,
): Promise<{ readonly count: number; readonly bytes: number }> {
  if (trackingIds.length === 0) return { count: 0, bytes: 0 }
  const rows = await sql.all(
    `select tracking_id, octet_length(document) as bytes from health_events
      where tracking_id in (${trackingIds.map(() => '?').join(', ')})`,
    ...trackingIds,
  )
  const sizes = new Map(rows.map((row) => [String(row['tracking_id']), Number(row['bytes'])]))
  let bytes = 0
  for (const [count, id] of trackingIds.entries()) {
    const more = sizes.get(id) ?? 0
    if (count > 0 && bytes + more > bytesMax) return { count, bytes }
    bytes += more
  }
  return { count: trackingIds.length, bytes }
}

/** Writes an event with a row for each of its audiences; `isNew` when nothing of it is stored. */
export async function writeEvent(
  tx: SqlTx,
  key: string,
  event: HealthEvent,
  isNew: boolean,
): Promise<void> {
  const document = JSON.stringify(event)
  if (isNew) {
    const made = await tx.run(
      `insert into health_events (tracking_id, shown_id, owner, revision, document) values (?, ?, ?, 1, ?)
        on conflict (tracking_id) do nothing`,
      ...[key, event.trackingId, event.owner, document],
    )
    // Read and decided anew: then it is there.
    if (made === 0) throw new StoreConflict(`Another transaction made the event '${key}'.`)
  } else {
    await tx.run('update health_events set document = ? where tracking_id = ?', document, key)
    await tx.run('delete from health_audiences where tracking_id = ?', key)
  }
  const { properties } = event
  const services = servicesOf(properties.impact)
  const regions = regionsOf(properties.impact)
  const facets = [properties.eventType, properties.status, properties.eventLevel].map((one) =>
    one.toLowerCase(),
  )
  for (const audience of [installation, ...audiencesOf(event)]) {
    await tx.run(
      `insert into health_audiences (audience, newest, tracking_id, event_type, status, event_level,
        services, regions) values (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[audience, -Date.parse(properties.lastUpdateTime), key, ...facets, services, regions],
    )
  }
}

/** Subscriptions by their ids in lower case, or everybody. */
export function audiencesOf({ owner, properties }: HealthEvent): readonly string[] {
  const own = /^\/subscriptions\/([^/]+)$/.exec(owner)?.[1]
  if (own !== undefined) return [own]
  const named = namedSubscriptions(properties.impact)
  return named.size === 0 ? [everybody] : [...named]
}

function placeOf(row: SqlRow): ListPosition {
  return { newest: Number(row['newest']), id: String(row['tracking_id']) }
}

function eventOf(row: SqlRow): HealthEvent {
  // Only `writeEvent` writes this.
  return JSON.parse(String(row['document'])) as HealthEvent
}
