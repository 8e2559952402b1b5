/** Reads the newest end of the audit trail, the oldest record first, for readers that follow it. */

import type { Sql } from '#stores/store.ts'

export interface TrailRecord {
  readonly number: number
  readonly key: string
}

export interface TrailTail {
  /** The number of the newest record; 0 where there is none. */
  newest(): Promise<number>
  /**
   * Records after that number. A transaction gets its number when it writes and becomes visible when it commits, so
   * a lower number may appear after a higher one.
   */
  after(number: number, limit: number): Promise<readonly TrailRecord[]>
}

const newestQuery = 'select number from events order by number desc limit 1'
const afterQuery = 'select number, key from events where number > ? order by number limit ?'

export function openTail(sql: Pick<Sql, 'all'>): TrailTail {
  return {
    async newest() {
      const [row] = await sql.all(newestQuery)
      return Number(row?.['number'] ?? 0)
    },
    async after(number, limit) {
      const rows = await sql.all(afterQuery, number, limit)
      return rows.map((row) => ({ number: Number(row['number']), key: String(row['key']) }))
    },
  }
}
