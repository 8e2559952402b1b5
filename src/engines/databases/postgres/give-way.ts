/**
 * The copy never stands in the application's way: whoever waits at the source for a lock that the migration holds (a
 * TRUNCATE, an ALTER TABLE) is let through by ending the migration's own statement, which is then tried again.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from './connect.ts'
import { type DatabaseTask, nameOf, openSource } from './database-task.ts'

const lookMilliseconds = 200
/** Shorter waits pass by themselves, and an ended statement has to read again. */
const patienceMilliseconds = 400
/** A session that still holds the lock is ended: a server that waits to send rows accepts no other interruption. */
const lastPatienceMilliseconds = 900

/** The sessions that wait for one of ours, and which one. `$2` are further patterns of names. */
const waitingQuery = `
SELECT DISTINCT w.pid AS waiting, ours.pid AS ours
FROM (SELECT DISTINCT pid FROM pg_catalog.pg_locks WHERE NOT granted) w
CROSS JOIN LATERAL pg_catalog.unnest(pg_catalog.pg_blocking_pids(w.pid)) blocking (pid)
JOIN pg_catalog.pg_stat_activity ours ON ours.pid = blocking.pid AND ours.usename = current_user
  AND (ours.application_name = $1 OR ours.application_name LIKE ANY ($2))
LEFT JOIN pg_catalog.pg_stat_activity waits ON waits.pid = w.pid
WHERE coalesce(waits.application_name, '') <> $1`

interface Waiting {
  readonly waiting: number
  readonly ours: number
}

interface Way extends AsyncDisposable {
  /** Backends of the source that were ended. */
  readonly ended: ReadonlySet<number>
}

/** Watches until it is disposed. `others`: patterns of the names that the target's sessions have at the source. */
export function giveWay(task: DatabaseTask, others: readonly string[] = []): Way {
  const ending = new AbortController()
  const ended = new Set<number>()
  const watching = watch({ task, others, ended, end: ending.signal })
  return {
    ended,
    [Symbol.asyncDispose]: async () => {
      ending.abort()
      await watching
    },
  }
}

interface Watch {
  readonly task: DatabaseTask
  readonly others: readonly string[]
  readonly ended: Set<number>
  readonly end: AbortSignal
}

async function watch(at: Watch): Promise<void> {
  const { task } = at
  const since = new Map<string, number>()
  const isOver = (): boolean => at.end.aborted || task.signal.aborted
  let session: Session | undefined
  while (!isOver()) {
    try {
      if (session === undefined || session.lost() !== undefined) session = await openSource(task)
      await letThrough(at, session, since)
    } catch {
      // A server that is away blocks nobody for us; the step in progress reports it.
    }
    // Whoever ends the watch does not wait for its next look.
    await sleep(lookMilliseconds, undefined, { signal: at.end }).catch(() => undefined)
  }
  await session?.[Symbol.asyncDispose]()
}

async function letThrough(
  { task, others, ended }: Watch,
  session: Session,
  since: Map<string, number>,
): Promise<void> {
  const rows = await session.rows<Waiting>(waitingQuery, [nameOf(task), others])
  const now = task.clock.now()
  const seen = new Set(rows.map(({ waiting, ours }) => `${waiting} ${ours}`))
  for (const key of since.keys()) if (!seen.has(key)) since.delete(key)
  for (const { waiting, ours } of rows) {
    const key = `${waiting} ${ours}`
    const first = since.get(key) ?? now
    since.set(key, first)
    if (now - first < patienceMilliseconds) continue
    ended.add(ours)
    const how = now - first >= lastPatienceMilliseconds ? 'terminate' : 'cancel'
    await session.rows(`SELECT pg_catalog.pg_${how}_backend($1)`, [ours])
  }
}
