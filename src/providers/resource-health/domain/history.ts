/**
 * The availability history of resources: a row for each observed change. It compares what it is given and looks at
 * no resource itself.
 */

import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import type { AvailabilityCheck } from './availability-check.ts'

/** An observed state, from `since` on. */
export interface Past extends Omit<AvailabilityCheck, 'since'> {
  readonly since: number
}

/** The current observation of one resource. */
interface Seen {
  readonly key: string
  readonly check: AvailabilityCheck
}

/** One page of the resources of a type, in order of key. */
interface SeenPage {
  readonly type: string
  readonly seen: readonly Seen[]
  /** The key after which the page begins. */
  readonly after: string
  /** Nothing of the type comes after it. */
  readonly isLast: boolean
}

export interface History {
  /**
   * Records changes, and forgets resources that are missing from the page. Replicas may observe the same at once.
   */
  note(page: SeenPage, now: number): Promise<void>
  /** Newest first, among those that began before a moment. */
  past(key: string, before: number, limit: number): Promise<readonly Past[]>
}

const keptMilliseconds = 90 * 86_400_000
const keptMax = 200

export function openHistory(sql: Sql): History {
  return {
    async note({ type, seen, after, isLast }, now) {
      const end = isLast ? undefined : seen.at(-1)?.key
      const rows = await sql.all(
        `select resource_key, state, reason from health_availability
          where type = ? and resource_key > ? ${end === undefined ? '' : 'and resource_key <= ?'}`,
        ...[type, after, ...(end === undefined ? [] : [end])],
      )
      const known = new Map(rows.map((row) => [String(row['resource_key']), row]))
      const changed = seen.filter(({ key, check }) => !isAs(known.get(key), check))
      const there = new Set(seen.map(({ key }) => key))
      const gone = [...known.keys()].filter((key) => !there.has(key))
      if (changed.length === 0 && gone.length === 0) return
      await sql.transact(async (tx) => {
        for (const key of gone) await forget(tx, key)
        for (const one of changed) await change(tx, type, one, now)
      })
    },
    async past(key, before, limit) {
      const rows = await sql.all(
        `select since, state, reason, summary from health_availability_past
          where resource_key = ? and since < ? order by since desc limit ?`,
        ...[key, before, limit],
      )
      return rows.map(pastOf)
    },
  }
}

function isAs(row: SqlRow | undefined, { state, reasonType }: AvailabilityCheck): boolean {
  return row?.['state'] === state && row['reason'] === (reasonType ?? '')
}

async function forget(tx: SqlTx, key: string): Promise<void> {
  for (const table of ['health_availability', 'health_availability_past']) {
    await tx.run(`delete from ${table} where resource_key = ?`, key)
  }
}

/** The resource's row separates replicas: of two that observe the same, one changes it. */
async function change(tx: SqlTx, type: string, { key, check }: Seen, now: number): Promise<void> {
  const { state, summary, since = now } = check
  const reason = check.reasonType ?? ''
  const written = await tx.run(
    `insert into health_availability (resource_key, type, state, reason) values (?, ?, ?, ?)
      on conflict (resource_key) do update set state = excluded.state, reason = excluded.reason
      where health_availability.state <> excluded.state or health_availability.reason <> excluded.reason`,
    ...[key, type, state, reason],
  )
  if (written === 0) return
  await tx.run(
    `insert into health_availability_past (resource_key, since, state, reason, summary)
      values (?, ?, ?, ?, ?) on conflict (resource_key, since)
      do update set state = excluded.state, reason = excluded.reason, summary = excluded.summary`,
    ...[key, since, state, reason, summary.replaceAll('\u0000', '')],
  )
  await tx.run(
    `delete from health_availability_past where resource_key = ? and (since < ? or since <= (
      select since from health_availability_past where resource_key = ?
        order by since desc limit 1 offset ${keptMax}))`,
    ...[key, now - keptMilliseconds, key],
  )
}

function pastOf(row: SqlRow): Past {
  const reason = String(row['reason'])
  return {
    since: Number(row['since']),
    // Only `change` writes the columns.
    state: row['state'] as AvailabilityCheck['state'],
    summary: String(row['summary']),
    ...(reason === ''
      ? {}
      : { reasonType: reason as NonNullable<AvailabilityCheck['reasonType']> }),
  }
}
