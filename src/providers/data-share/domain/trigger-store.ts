/** Stored triggers, and which of them are due. A time that passed while nothing ran is made up for once. */

import type { Sql, SqlRow } from '#stores/store.ts'
import { type Mode, triggers } from './store/tables.ts'

export interface TriggerRow {
  readonly key: string
  readonly subscriptionKey: string
  readonly mode: Mode
  readonly everyMilliseconds: number
  readonly nextAt: number
  readonly generation: number
}

export async function readTrigger(sql: Sql, key: string): Promise<TriggerRow | undefined> {
  const [row] = await sql.all('select * from share_triggers where resource_key = ?', key)
  return row === undefined ? undefined : toTrigger(row)
}

/** The first time after now, counted from the anchor. */
export function nextAfter(anchor: number, everyMilliseconds: number, now: number): number {
  if (anchor > now) return anchor
  return anchor + (Math.floor((now - anchor) / everyMilliseconds) + 1) * everyMilliseconds
}

export async function writeTrigger(
  sql: Sql,
  trigger: {
    readonly key: string
    readonly subscriptionKey: string
    readonly mode: Mode
    readonly everyMilliseconds: number
    readonly anchor: number
    readonly now: number
    readonly generation: number
  },
): Promise<void> {
  await sql.transact((tx) =>
    tx.run(
      `insert into share_triggers (resource_key, subscription_key, share_key, mode, every_milliseconds, next_at, body)
        values (?, ?, '', ?, ?, ?, ?)
        on conflict (resource_key) do update set mode = excluded.mode,
          every_milliseconds = excluded.every_milliseconds, next_at = excluded.next_at, body = excluded.body`,
      trigger.key,
      trigger.subscriptionKey,
      trigger.mode,
      trigger.everyMilliseconds,
      nextAfter(trigger.anchor, trigger.everyMilliseconds, trigger.now),
      String(trigger.generation),
    ),
  )
}

export async function eraseTrigger(sql: Sql, key: string): Promise<void> {
  await sql.transact((tx) => tx.run('delete from share_triggers where resource_key = ?', key))
}

/** Takes due triggers; each time goes to one process only. */
export function takeDue(sql: Sql, now: number, limit: number): Promise<readonly TriggerRow[]> {
  return sql.transact(async (tx) => {
    const rows = await tx.all(
      'select * from share_triggers where next_at <= ? order by next_at limit ?',
      now,
      limit,
    )
    const taken: TriggerRow[] = []
    for (const trigger of rows.map(toTrigger)) {
      const moved = await tx.run(
        'update share_triggers set next_at = ? where resource_key = ? and next_at = ?',
        nextAfter(trigger.nextAt, trigger.everyMilliseconds, now),
        trigger.key,
        trigger.nextAt,
      )
      if (moved > 0) taken.push(trigger)
    }
    return taken
  })
}

function toTrigger(cells: SqlRow): TriggerRow {
  const { resourceKey, subscriptionKey, mode, everyMilliseconds, nextAt, body } =
    triggers.row(cells)
  return {
    key: resourceKey,
    subscriptionKey,
    mode,
    everyMilliseconds,
    nextAt,
    generation: Number(body),
  }
}
