/** The typed tables of data sharing equal those of the released migrations, in both stores. */

import { after, test } from 'node:test'
import { assertTables } from '#query/testing/schema.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { sharingStore } from '../../testing/start.ts'
import { openStoreAt } from '../../testing/stores.ts'
import { dataShareTables } from './tables.ts'

let server: Promise<PostgresServer> | undefined
after(async () => (await server)?.[Symbol.asyncDispose]())

test('typed tables agree with the schema in SQLite', async () => {
  await using store = await sharingStore()
  await assertTables(store.sql, dataShareTables)
})

test('typed tables agree with the schema in PostgreSQL', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  server ??= startPostgres({ fsync: false })
  const url = await (await server).createDatabase()
  await using store = await openStoreAt({ kind: 'postgres', url })
  await assertTables(store.sql, dataShareTables)
})
