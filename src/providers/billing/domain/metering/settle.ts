/**
 * Runs that are over and charged whole go: a container that is started again and again would leave a row for each run.
 * What stays of them is what they were charged for in each day, and up to when the runs of a container are settled. So a
 * report that comes once more charges nothing again. It charges nothing itself.
 */

import type { Sql, SqlTx } from '#stores/store.ts'
import { lockAccount } from '../ledger/statements.ts'
import { columnsOf, usage } from '../tables.ts'
import { dayMilliseconds, dayOf, keepSums } from './rate.ts'

const runsAtOnce = 200

interface Settled {
  readonly key: string
  readonly series: string
  readonly resourceId: string
  readonly startedAt: number
  readonly endedAt: number
}

/** Settles runs that ended before a moment; returns how many. Each transaction handles a bounded number. */
export async function settleUsage(sql: Sql, account: string, before: number): Promise<number> {
  let settled = 0
  for (;;) {
    const count = await sql.transact((tx) => settleSome(tx, account, before))
    settled += count
    if (count < runsAtOnce) return settled
  }
}

async function settleSome(tx: SqlTx, account: string, before: number): Promise<number> {
  // Whoever charges runs does so under this lock, too.
  await lockAccount(tx, account)
  const runs = await nextRuns(tx, before)
  for (const [resourceId, day] of daysOf(runs)) await keepSums(tx, resourceId, day)
  const through = new Map<string, number>()
  for (const { series, startedAt } of runs) {
    through.set(series, Math.max(startedAt, through.get(series) ?? startedAt))
  }
  // In the order of the meter.
  for (const series of [...through.keys()].sort()) {
    await tx.run(
      `insert into billing_usage_series (series, settled_through) values (?, ?)
       on conflict (series) do update set settled_through =
         case when excluded.settled_through > billing_usage_series.settled_through
           then excluded.settled_through else billing_usage_series.settled_through end`,
      series,
      through.get(series) ?? 0,
    )
  }
  for (const { key } of runs) await tx.run('delete from billing_usage where run_key = ?', key)
  return runs.length
}

async function nextRuns(tx: SqlTx, before: number): Promise<readonly Settled[]> {
  const rows = await tx.all(
    `select ${columnsOf(usage)} from billing_usage
     where unrated = 0 and ended_at < ? order by ended_at, run_key limit ?`,
    before,
    runsAtOnce,
  )
  return rows.map(usage.row).map(({ runKey, resourceId, startedAt, endedAt, seenAt }) => ({
    key: runKey,
    series: runKey.slice(0, -`|${startedAt}`.length),
    resourceId,
    startedAt,
    endedAt: endedAt ?? seenAt,
  }))
}

/** The days in which the runs ran, by resource, each once. */
function daysOf(runs: readonly Settled[]): Iterable<readonly [resourceId: string, day: number]> {
  const days = new Map<string, readonly [string, number]>()
  for (const { resourceId, startedAt, endedAt } of runs) {
    for (let day = dayOf(startedAt); day < endedAt; day += dayMilliseconds) {
      days.set(`${day} ${resourceId}`, [resourceId, day])
    }
  }
  return days.values()
}
