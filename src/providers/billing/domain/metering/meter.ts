/**
 * The meter: stores runs until they are charged. A run is one row under its own key, so it may be reported any
 * number of times; each report can only make it more accurate.
 */

import type { UsageMeter } from '#kernel/usage.ts'
import type { Sql } from '#stores/store.ts'

export function openMeter(sql: Sql): UsageMeter {
  return {
    async note(runs) {
      if (runs.length === 0) return
      await sql.transact(async (tx) => {
        for (const run of runs) {
          const ended = run.endedAt ?? null
          await tx.run(
            `insert into billing_usage
               (run_key, resource_id, started_at, ended_at, seen_at, rated_until, unrated, held)
             values (?, ?, ?, ?, ?, ?, 1, ?)
             on conflict (run_key) do update set
               seen_at = case when excluded.seen_at > billing_usage.seen_at
                 then excluded.seen_at else billing_usage.seen_at end,
               ended_at = coalesce(billing_usage.ended_at, excluded.ended_at)`,
            run.key,
            run.resourceId,
            run.startedAt,
            ended,
            run.seenAt,
            run.startedAt,
            JSON.stringify(run.held),
          )
        }
      })
    },
  }
}
