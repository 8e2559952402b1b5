/**
 * Events and their audiences in the store: written whole in one transaction, read by key or in keyset order. It
 * knows no filter language and no caller.
 */

import type { Sql, SqlRow, SqlTx, SqlValue } from '#stores/store.ts'
import { namedSubscriptions, plain } from './change.ts'
import type { HealthEvent } from './event.ts'

export const everybody = '*'
export const installation = '/'

/** A place in a list: the newest update first, then by tracking id. */
export interface Place {
  /** The negated time of the last update. */
  readonly newest: number
  readonly id: string
}

/** What must hold of a row for its event to be of interest; more may be asked of the event itself. */
export interface Narrowing {
  readonly text: string
  readonly values: readonly SqlValue[]
}

export interface Stretch {
  readonly audience: string
  /** Events last updated at this moment or later. */
  readonly since: number
  readonly after: Place | undefined
  readonly narrowing: Narrowing | undefined
  readonly limit: number
}

/** Rows looked at for one stretch, whether they are of interest or not. */
const windowMax = 4000

export interface Ledger {
  find(trackingId: string): Promise<HealthEvent | undefined>
  findAll(trackingIds: readonly string[]): Promise<ReadonlyMap<string, HealthEvent>>
  /** Places in order; `end` is where the next stretch goes on, absent when nothing is left. */
  places(stretch: Stretch): Promise<{ readonly places: readonly Place[]; readonly end?: Place }>
  /** Reads, changes and writes one event, with nobody in between. `change` may throw; then nothing happened. */
  change(
    trackingId: string,
    change: (event: HealthEvent | undefined) => HealthEvent,
    also?: (tx: SqlTx) => Promise<void>,
  ): Promise<HealthEvent>
}

/** Before every moment there is. Whole: times are whole numbers in the tables. */
export const beginningOfTime = -(2 ** 52)

export function openLedger(sql: Sql): Ledger {
  return {
    async find(trackingId) {
      const [row] = await sql.all(
        'select document from health_events where tracking_id = ?',
        trackingId.toLowerCase(),
      )
      return row === undefined ? undefined : eventOf(row)
    },
    async findAll(trackingIds) {
      if (trackingIds.length === 0) return new Map()
      const rows = await sql.all(
        `select tracking_id, document from health_events
          where tracking_id in (${trackingIds.map(() => '?').join(', ')})`,
        ...trackingIds,
      )
      return new Map(rows.map((row) => [String(row['tracking_id']), eventOf(row)]))
    },
    async places({ audience, since, after, narrowing, limit }) {
      const from = after ?? { newest: Number.MIN_SAFE_INTEGER, id: '' }
      const window = `select * from health_audiences
        where audience = ? and newest <= ? and (newest, tracking_id) > (?, ?)
        order by newest, tracking_id`
      const bounds: readonly SqlValue[] = [audience, -since, from.newest, from.id]
      const rows = await sql.all(
        `select newest, tracking_id from (${window} limit ${windowMax}) looked_at
          where ${narrowing?.text ?? '1 = 1'} order by newest, tracking_id limit ?`,
        ...bounds,
        ...(narrowing?.values ?? []),
        limit,
      )
      const places = rows.map(placeOf)
      const last = places.at(-1)
      if (places.length === limit && last !== undefined) return { places, end: last }
      if (narrowing === undefined) return { places }
      // Fewer are of interest than were asked for: go on behind what was looked at.
      const [edge] = await sql.all(
        `select newest, tracking_id from (${window} limit 1 offset ${windowMax - 1}) edge`,
        ...bounds,
      )
      return edge === undefined ? { places } : { places, end: placeOf(edge) }
    },
    change(trackingId, change, also) {
      const key = trackingId.toLowerCase()
      return sql.transact(async (tx) => {
        // The write comes first: it keeps every other writer of this event out until the end.
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

/** An event with a row for each of its audiences; `isNew` where nothing of it is stored. */
export async function writeEvent(
  tx: SqlTx,
  key: string,
  event: HealthEvent,
  isNew: boolean,
): Promise<void> {
  const document = JSON.stringify(event)
  if (isNew) {
    await tx.run(
      'insert into health_events (tracking_id, shown_id, owner, revision, document) values (?, ?, ?, 1, ?)',
      ...[key, event.trackingId, event.owner, document],
    )
  } else {
    await tx.run('update health_events set document = ? where tracking_id = ?', document, key)
    await tx.run('delete from health_audiences where tracking_id = ?', key)
  }
  const { properties } = event
  const services = listed(properties.impact.map((one) => one.impactedService.toLowerCase()))
  const regions = listed(
    properties.impact.flatMap((one) =>
      one.impactedRegions.map((region) => plain(region.impactedRegion)),
    ),
  )
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

/** `|a|b|`: one of them is found as `|a|`. */
function listed(names: readonly string[]): string {
  // PostgreSQL's text holds no NUL.
  return `|${[...new Set(names)].join('|').replaceAll('\u0000', '')}|`
}

function placeOf(row: SqlRow): Place {
  return { newest: Number(row['newest']), id: String(row['tracking_id']) }
}

function eventOf(row: SqlRow): HealthEvent {
  // Written by `writeEvent` alone.
  return JSON.parse(String(row['document'])) as HealthEvent
}
