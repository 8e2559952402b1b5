/**
 * How often the store was replaced by another state. What a process remembers of rows holds as long as this number is the
 * same: another process may have replaced it.
 */

import type { Sql } from './store.ts'

/** The feed that every replacement appends to. */
export const restoredFeed = 'restored'

export async function restorationOf(reads: Pick<Sql, 'all'>): Promise<number> {
  const [row] = await reads.all('select position from feeds where name = ?', restoredFeed)
  return Number(row?.['position'] ?? 0)
}
