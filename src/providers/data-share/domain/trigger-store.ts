/** Stored triggers, and which of them are due. A time that passed while nothing ran is made up for once. */

import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
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

/**
 * Triggers that are due, of subscriptions in turn, and within each of its resource groups in turn. They stay due until they
 * are moved on.
 */
export async function dueTriggers(
  sql: Sql,
  now: number,
  limit: number,
): Promise<readonly TriggerRow[]> {
  const [any] = await sql.all('select next_at from share_triggers where next_at <= ? limit 1', now)
  if (any === undefined) return []
  const rows = await sql.scan(inTurn[sql.dialect], now, limit)
  return rows.map(toTrigger)
}

/** What stands before these segments of a key names its subscription, or its resource group. */
const inTurnWith = (find: 'instr' | 'strpos'): string => {
  const before = (segments: string) =>
    `substr(subscription_key, 1, ${find}(subscription_key, '${segments}'))`
  return `select * from (
      select *, row_number() over (partition by ${before('/resourcegroups/')} order by place, next_at, resource_key) as turn
      from (
        select *, row_number() over (partition by ${before('/providers/')} order by next_at, resource_key) as place
        from share_triggers where next_at <= ?
      ) as due
    ) as waiting order by turn, next_at, resource_key limit ?`
}

const inTurn = { sqlite: inTurnWith('instr'), postgres: inTurnWith('strpos') } as const

/** To its next time. False where another process has done so, or the trigger was changed. */
export async function moveOn(tx: SqlTx, trigger: TriggerRow, now: number): Promise<boolean> {
  const moved = await tx.run(
    'update share_triggers set next_at = ? where resource_key = ? and next_at = ?',
    nextAfter(trigger.nextAt, trigger.everyMilliseconds, now),
    trigger.key,
    trigger.nextAt,
  )
  return moved > 0
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
