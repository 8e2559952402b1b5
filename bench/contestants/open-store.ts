/** Opens the store of a stopped installation through the store's own port, to write there what clients would have. */

import { defaultLimits } from '../../src/kernel/limits.ts'
import { contractWords } from '../../src/kernel/vendor.ts'
import { areaMigrations } from '../../src/main/migrations.ts'
import { openPostgres } from '../../src/stores/postgres/open.ts'
import { openSqlite } from '../../src/stores/sqlite/open.ts'

/** `database` is a file of SQLite, or the address of a PostgreSQL database. */
export function openStore(database: string): ReturnType<typeof openSqlite> {
  const options = {
    migrations: areaMigrations,
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  }
  return database.startsWith('postgres:')
    ? openPostgres({ ...options, url: database, poolSize: 2, clock: Date })
    : openSqlite({ ...options, path: database })
}
