/** A store on a server of PostgreSQL, for a test whose question is what others do meanwhile. */

import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import type { Store } from '#stores/store.ts'
import type { PostgresServer } from '#stores/testing/postgres-server.ts'

export async function openPostgresStore(server: PostgresServer, poolSize: number): Promise<Store> {
  const url = await server.createDatabase()
  const words = contractWords
  return openPostgres({
    ...{ url, poolSize, words },
    clock: Date,
    migrations: [],
    transactionRetriesMax: 8,
  })
}
