/**
 * Removes records by age, the oldest first and a few at a time. The cost of a sweep depends on what it removes. A clock that is
 * ahead makes all records old, so after a leap of the clock nothing is removed for a day.
 */

import type { Clock, Log, Timers } from '#kernel/ports.ts'
import { startRounds } from '#kernel/rounds.ts'
import type { Sql } from '#stores/store.ts'

const batchRows = 200
const everyMilliseconds = 10 * 60_000
const betweenMilliseconds = 25
const day = 86_400_000
/** A server that is used leaves a record within this time, and one that runs looks more often. */
const leapMilliseconds = 3 * day
/** The newest records, in which an earlier process may have left a leap. */
const comparedRows = 5_000

export const sweepQueries = {
  oldest: 'select number, at from events order by number limit ?',
  newest: `select at from events order by number desc limit ${comparedRows}`,
  remove: 'delete from events where number <= ? and at < ?',
  // A summary stays as long as one of its records does; otherwise the record would never be found.
  blocks: `delete from event_blocks where last <= ?
    and not exists (select 1 from events where number between first and last)`,
} as const

/**
 * Removes up to `limit` records from before that moment and returns their number. Newer records among them stay.
 */
export async function sweepActivity(sql: Sql, before: number, limit: number): Promise<number> {
  const rows = await sql.all(sweepQueries.oldest, limit)
  // Records are nearly in order of time. A late record at the very beginning would hold up the rest, so it is
  // skipped.
  const last = rows.findLast((row) => Number(row['at']) < before)
  if (last === undefined) return 0
  const number = Number(last['number'])
  return sql.transact(async (tx) => {
    const removed = await tx.run(sweepQueries.remove, number, before)
    if (sql.dialect === 'sqlite') await tx.run(sweepQueries.blocks, number)
    return removed
  })
}

interface ActivitySweepOptions {
  readonly sql: Sql
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
  readonly keptDays: number
  /** Somebody moves the clock, and means it. */
  readonly isClockMoved?: boolean
}

/** Sweeps at intervals until it is disposed. Every replica may sweep; a removed record is gone for all. */
export function startActivitySweep(options: ActivitySweepOptions): AsyncDisposable {
  const { sql, clock, timers, log, keptDays, isClockMoved = false } = options
  let seen: number | undefined
  let heldUntil = 0
  return startRounds(timers, 0, async () => {
    try {
      const now = clock.now()
      const isFirst = seen === undefined
      const before = isFirst ? await newestMoments(sql) : [seen ?? now]
      const held = isClockMoved ? undefined : endOfHold([now, ...before], now)
      if (held !== undefined) {
        heldUntil = held
        log.warn({ until: new Date(held).toISOString() }, 'the clock leapt: the audit trail stays')
      }
      seen = now
      if (isFirst) return everyMilliseconds / 10
      // The end is farther away where the clock was set back since.
      if (now < heldUntil && heldUntil - now <= day) return everyMilliseconds
      const removed = await sweepActivity(sql, now - keptDays * day, batchRows)
      return removed < batchRows ? everyMilliseconds : betweenMilliseconds
    } catch (error) {
      log.warn({ error: String(error) }, 'the audit trail could not be swept')
      return everyMilliseconds
    }
  })
}

async function newestMoments(sql: Sql): Promise<readonly number[]> {
  return (await sql.all(sweepQueries.newest)).map((row) => Number(row['at']))
}

/** A day after the clock leapt, if it did within the last day. The latest moment comes first. */
function endOfHold(moments: readonly number[], now: number): number | undefined {
  const leapt = moments.find(
    (at, index) =>
      at <= now && now - at <= day && at - (moments[index + 1] ?? at) > leapMilliseconds,
  )
  return leapt === undefined ? undefined : leapt + day
}
