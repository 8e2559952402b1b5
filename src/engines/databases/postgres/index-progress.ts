/** Reports the progress of the target's indexes while they are built. A failed poll is ignored. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from './connect.ts'
import { type DatabaseTask, openTarget, tell } from './database-task.ts'
import { listOfDump } from './schema.ts'

const lookMilliseconds = 1_000

/** Lines of a dump's list that create an index: `3379; 2606 16391 CONSTRAINT public note note_pkey owner`. */
const makesIndex = /^\d+; \d+ \d+ (?:INDEX(?! ATTACH)|CONSTRAINT) /

const query = `
SELECT (SELECT pg_catalog.count(*) FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
    WHERE c.oid >= 16384 AND c.relkind <> 't') AS built,
  (SELECT pg_catalog.string_agg(pg_catalog.format('%I.%I (%s%s)', n.nspname, c.relname, p.phase,
      CASE WHEN p.blocks_total > 0 THEN ', ' || p.blocks_done * 100 / p.blocks_total || ' %'
        WHEN p.tuples_total > 0 THEN ', ' || p.tuples_done * 100 / p.tuples_total || ' %' END), '; ' ORDER BY c.relname)
    FROM pg_catalog.pg_stat_progress_create_index p JOIN pg_catalog.pg_class c ON c.oid = p.relid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE p.datname = pg_catalog.current_database()) AS now`

/** Runs until it is disposed. */
export async function watchIndexes(task: DatabaseTask): Promise<AsyncDisposable> {
  const total = listOfDump(task, 'copied').filter((line) => makesIndex.test(line)).length
  const session = await openTarget(task)
  const ending = new AbortController()
  const looking = look(task, session, total, ending.signal)
  return {
    async [Symbol.asyncDispose]() {
      ending.abort()
      await session[Symbol.asyncDispose]()
      await looking
    },
  }
}

async function look(
  task: DatabaseTask,
  session: Session,
  total: number,
  end: AbortSignal,
): Promise<void> {
  try {
    while (!end.aborted) {
      const [seen] = await session.rows<{ built: string; now: string | null }>(query)
      if (end.aborted || seen === undefined) return
      const now = seen.now === null ? '' : ` Now on ${seen.now}.`
      const built = Math.min(total, Number(seen.built))
      tell(task, {
        message: `Building indexes and constraints: ${built} of ${total} indexes are built.${now}`,
      })
      // Whoever ends the watch does not wait for its next look.
      await sleep(lookMilliseconds, undefined, { signal: end })
    }
  } catch {
    // The restore itself reports what is wrong with the server.
  }
}
