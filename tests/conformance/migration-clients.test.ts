/** The published typed client of PostgreSQL servers: an online migration between two real ones. */

import { test } from 'node:test'
import pg from 'pg'
import {
  findServer,
  howToGetServers,
  startServer,
} from '../../src/engines/databases/testing/servers.ts'
import { requireOrSkip } from '../require.ts'
import { runClientTest } from './published.ts'

test('the typed client of PostgreSQL servers and migrations', async (t) => {
  const isThere = findServer(15) !== undefined && findServer(18) !== undefined
  if (!requireOrSkip(t, isThere, howToGetServers)) return
  await using source = await startServer(15)
  await using target = await startServer(18)
  const client = new pg.Client(source.server.url('postgres'))
  await client.connect()
  await client.query('CREATE DATABASE shop')
  await client.end()
  const shop = new pg.Client(source.server.url('shop'))
  await shop.connect()
  await shop.query(
    'CREATE TABLE orders AS SELECT id, id * 2 AS amount FROM generate_series(1, 500) id',
  )
  await shop.query('ALTER TABLE orders ADD PRIMARY KEY (id)')
  await shop.end()
  const servers = { source, target }
  const named = Object.entries(servers).map(
    ([name, { address }]) => `${name}=${address.host}:${address.port}`,
  )
  await t.test('between two real servers', (t) =>
    runClientTest(t, {
      file: import.meta.filename,
      programs: ['migrating.mjs'],
      packages: ['@azure/arm-postgresql-flexible', '@azure/arm-resources'],
      environment: { ARMATURE_POSTGRES_SERVERS: named.join(',') },
      prepare: async () => ({
        servers: Object.fromEntries(
          Object.entries(servers).map(([name, { address, password }]) => [
            name,
            { ...address, password },
          ]),
        ),
      }),
    }),
  )
})
