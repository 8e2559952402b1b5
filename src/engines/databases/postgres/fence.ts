/**
 * Keeps writers out of the source while the last changes are applied: new sessions are read-only, old ones are
 * ended. It does not begin while somebody would be left inside.
 */

import { DatabaseEngineError } from '../engine.ts'
import { quoteName, quoteText, type Session } from './connect.ts'
import type { DatabaseTask } from './database-task.ts'
import { objectNames, sessionName } from './names.ts'

const pollMilliseconds = 10
const endAttemptsMax = 500

/** Whether this session's user may see and end everybody's sessions. Ending a superuser's needs a superuser. */
export const mayEndSessions = `(SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)
  OR (pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE') AND pg_catalog.pg_has_role('pg_signal_backend', 'USAGE'))`

/** A user without that right sees of other sessions only that they exist, and their user. */
const othersQuery = `
SELECT pg_catalog.count(*)::int AS others,
  pg_catalog.string_agg(DISTINCT pg_catalog.quote_ident(r.rolname), ', ') AS names
FROM pg_catalog.pg_stat_activity s JOIN pg_catalog.pg_roles r ON r.oid = s.usesysid
WHERE s.datname = pg_catalog.current_database() AND s.pid <> pg_catalog.pg_backend_pid()
  AND NOT pg_catalog.pg_has_role(r.oid, 'USAGE')
  AND NOT coalesce(s.application_name LIKE $1 OR s.application_name = $2, false)
  AND (r.rolsuper OR NOT (${mayEndSessions}))`

/** Why the cutover would lose something now; undefined when nothing is in the way. */
export async function obstacleToCutover(
  task: DatabaseTask,
  source: Session,
): Promise<string | undefined> {
  if (task.spec.fence === 'none') return undefined
  const prepared = await source.rows<{ name: string }>(
    `SELECT gid AS name FROM pg_catalog.pg_prepared_xacts
     WHERE database = pg_catalog.current_database() ORDER BY prepared LIMIT 5`,
  )
  if (prepared.length > 0) {
    return `prepared transactions are open at the source (${prepared.map(({ name }) => name).join(', ')}): commit them or roll them back`
  }
  const feeds = await source.rows<{ name: string }>(
    `SELECT pg_catalog.quote_ident(subname) AS name FROM pg_catalog.pg_subscription s
     JOIN pg_catalog.pg_database d ON d.oid = s.subdbid
     WHERE d.datname = pg_catalog.current_database() AND s.subenabled LIMIT 5`,
  )
  if (feeds.length > 0) {
    return `what the database of the source subscribes to is still written to it (the subscription ${feeds.map(({ name }) => name).join(', ')}): disable it`
  }
  const [seen] = await source.rows<{ others: number; names: string | null }>(othersQuery, [
    objectNames(task.migration),
    sessionName(task.migration),
  ])
  if (seen === undefined || seen.others === 0) return undefined
  return `the source's user may not end the sessions of ${seen.names}: grant it pg_signal_backend and pg_read_all_stats (for sessions of superusers, end them yourself)`
}

const endQuery = `SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
  WHERE datname = pg_catalog.current_database() AND backend_type NOT IN ('walsender', 'autovacuum worker')
    AND application_name NOT LIKE $1 AND application_name <> $2 AND backend_start < $3::timestamptz`

/** The old setting is recorded first. */
export async function fence(task: DatabaseTask, source: Session): Promise<void> {
  if (task.spec.fence === 'none') return
  if (task.record.fence === undefined) {
    task.record.fence = { previous: (await readOnlySetting(source)) ?? null }
    task.save()
  }
  await source.run(`ALTER DATABASE ${quoteName(task.name)} SET default_transaction_read_only TO on`)
  // Later sessions have the setting; earlier ones may be committing, so their end is awaited.
  const since = await source.value('SELECT pg_catalog.clock_timestamp()::text')
  for (let attempt = 0; ; attempt++) {
    const ended = await source.rows(endQuery, [
      objectNames(task.migration),
      sessionName(task.migration),
      since,
    ])
    if (ended.length === 0) break
    if (attempt === endAttemptsMax) {
      throw new DatabaseEngineError('busy', 'Sessions that write to the source do not end.')
    }
    await new Promise((done) => setTimeout(done, pollMilliseconds))
  }
  // Meanwhile a session may have started, or prepared a transaction, which the setting does not stop.
  const obstacle = await obstacleToCutover(task, source)
  if (obstacle !== undefined) throw new DatabaseEngineError('busy', obstacle)
}

/** The setting of the database itself, not of a role in it. */
async function readOnlySetting(source: Session): Promise<string | undefined> {
  return source.value(
    `SELECT pg_catalog.split_part(c, '=', 2) FROM pg_catalog.pg_db_role_setting s
     JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase, pg_catalog.unnest(s.setconfig) c
     WHERE d.datname = pg_catalog.current_database() AND s.setrole = 0
       AND c LIKE 'default\\_transaction\\_read\\_only=%'`,
  )
}

/** Restores the setting. It is no error when there is nothing to restore. */
export async function unfence(task: DatabaseTask, source: Session): Promise<void> {
  const { fence: set } = task.record
  if (set === undefined) return
  const database = quoteName(task.name)
  await source.run(
    set.previous === null
      ? `ALTER DATABASE ${database} RESET default_transaction_read_only`
      : `ALTER DATABASE ${database} SET default_transaction_read_only TO ${quoteText(set.previous)}`,
  )
}
