/**
 * Which state the store has: how often it was replaced by another one, and which database server has it. What a process
 * remembers of rows holds as long as this is the same: another process may have replaced it, and a server that took the
 * place of another may have lost the last rows.
 */

import type { Sql } from './store.ts'

/** The feed that every replacement appends to. */
export const restoredFeed = 'restored'

/** Of PostgreSQL: when the server was started, in any time zone of the session. */
export const serverStarted = 'cast(extract(epoch from pg_postmaster_start_time()) as text)'

export async function restorationOf(
  dialect: Sql['dialect'],
  reads: Pick<Sql, 'all'>,
): Promise<string> {
  const server = dialect === 'postgres' ? serverStarted : "''"
  const [row] = await reads.all(
    `select ${server} as server, (select position from feeds where name = ?) as position`,
    restoredFeed,
  )
  return `${row?.['position'] ?? 0} ${row?.['server']}`
}
