/**
 * The meter: stores runs until they are charged. A run is one row under its own key, so it may be reported any
 * number of times; each report can only make it more accurate. One that was charged whole has no row any more
 * (`settle.ts`): of its series it is known up to when runs are settled.
 */

import { runKeyOf, type UsageMeter, type UsageRun } from '#kernel/usage.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import { number } from '../cells.ts'

/** Before any run. */
const nothingSettled = -1

export function openMeter(sql: Sql): UsageMeter {
  return {
    async note(runs) {
      if (runs.length === 0) return
      await sql.transact(async (tx) => {
        const settled = new Map<string, number>()
        // In one order, so that two who report wait for each other in one.
        for (const series of [...new Set(runs.map((run) => run.series))].sort()) {
          settled.set(series, await settledOf(tx, series))
        }
        for (const run of runs) {
          const isKnown = await isUpdated(tx, run)
          if (isKnown || run.startedAt <= (settled.get(run.series) ?? nothingSettled)) continue
          await tx.run(
            `insert into billing_usage
               (run_key, resource_id, started_at, ended_at, seen_at, rated_until, unrated, held)
             values (?, ?, ?, ?, ?, ?, 1, ?)`,
            runKeyOf(run),
            run.resourceId,
            run.startedAt,
            run.endedAt ?? null,
            run.seenAt,
            run.startedAt,
            JSON.stringify(run.held),
          )
        }
      })
    },
  }
}

/** Whoever settles runs of the series waits until the transaction has ended. */
async function settledOf(tx: SqlTx, series: string): Promise<number> {
  await tx.run(
    `insert into billing_usage_series (series, settled_through) values (?, ?)
     on conflict (series) do update set settled_through = billing_usage_series.settled_through`,
    series,
    nothingSettled,
  )
  const [row] = await tx.all(
    'select settled_through from billing_usage_series where series = ?',
    series,
  )
  return row === undefined ? nothingSettled : number(row, 'settled_through')
}

async function isUpdated(tx: SqlTx, run: UsageRun): Promise<boolean> {
  const changed = await tx.run(
    `update billing_usage set
       seen_at = case when seen_at < ? then ? else seen_at end,
       ended_at = coalesce(ended_at, ?)
     where run_key = ?`,
    run.seenAt,
    run.seenAt,
    run.endedAt ?? null,
    runKeyOf(run),
  )
  return changed > 0
}
