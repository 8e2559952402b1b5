/** The kinds of tables, from one PostgreSQL to another; and everything on a store that is PostgreSQL itself. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { defaultLimits } from '#kernel/limits.ts'
import { contractWords } from '#kernel/vendor.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { dataShareMigrations } from './domain/store/migrations.ts'
import { consumer, type Sharing, sourceGroup, startSharing, targetGroup } from './testing/start.ts'

let server: Promise<PostgresServer> | undefined
after(async () => (await server)?.[Symbol.asyncDispose]())

const serverAt = (group: string): string => `${group}/providers/Vendor.Sql/servers/db`

async function register(sharing: Sharing, running: PostgresServer): Promise<void> {
  const url = new URL(running.url('postgres'))
  const properties = {
    fullyQualifiedDomainName: url.hostname,
    port: Number(url.port),
    administratorLogin: decodeURIComponent(url.username),
    administratorLoginPassword: decodeURIComponent(url.password),
  }
  await sharing.call('PUT', serverAt(sourceGroup), { location: 'here', properties })
  await sharing.call('PUT', serverAt(targetGroup), { location: 'here', properties }, consumer)
}

test('every kind of table copies, also into a file; both by what changed; on a PostgreSQL store', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  server ??= startPostgres({ fsync: false })
  const running = await server
  const databaseOf = async () => new URL(await running.createDatabase()).pathname.slice(1)
  const [from, to] = [await databaseOf(), await databaseOf()]
  const client = new Client({ connectionString: running.url(from) })
  const reader = new Client({ connectionString: running.url(to) })
  await client.connect()
  await reader.connect()
  await client.query('create schema dbo')
  await client.query('create table dbo.orders (id int primary key, customer text)')
  await client.query("insert into dbo.orders select n, 'c' || n from generate_series(1, 100) n")
  await using store = await openPostgres({
    url: await running.createDatabase(),
    poolSize: 6,
    clock: realClock,
    migrations: dataShareMigrations,
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  })
  await using sharing = await startSharing({ store })
  await sharing.prepare()
  await register(sharing, running)
  const table = (group: string, database: string, name: string) => ({
    SqlDBTable: { databaseName: database, sqlServerResourceId: serverAt(group), tableName: name },
    SqlDWTable: {
      dataWarehouseName: database,
      schemaName: 'dbo',
      sqlServerResourceId: serverAt(group),
      tableName: name,
    },
    SynapseWorkspaceSqlPoolTable: {
      synapseWorkspaceSqlPoolTableResourceId: `${group}/providers/Vendor.Synapse/workspaces/db/sqlPools/${database}/schemas/dbo/tables/${name}`,
    },
  })
  const kinds = ['SqlDBTable', 'SqlDWTable', 'SynapseWorkspaceSqlPoolTable'] as const
  for (const kind of kinds) {
    const dataSetId = await sharing.share(kind, kind, table(sourceGroup, from, 'orders')[kind])
    const target = table(targetGroup, to, kind.toLowerCase())[kind]
    await sharing.map(kind, kind, { dataSetId, ...target })
  }
  const dataSetId = await sharing.share(
    'csv',
    'SqlDBTable',
    table(sourceGroup, from, 'orders').SqlDBTable,
  )
  const file = { dataSetId, containerName: 'got', filePath: 'orders.csv', outputType: 'Csv' }
  await sharing.map('csv', 'Blob', file)
  const id = await sharing.synchronize()
  const run = await sharing.ended(id)
  assert.equal(run.status, 'Succeeded', JSON.stringify(await sharing.details(id)))
  for (const kind of kinds) {
    const { rows } = await reader.query(`select count(*)::int as n from dbo.${kind.toLowerCase()}`)
    assert.equal(rows[0].n, 100, kind)
  }
  assert.equal(sharing.read('taker', 'got/orders.csv').split('\n').length, 102)
  const brief = async (of: string) =>
    (await sharing.details(of)).map((one) => [
      one.name,
      one.rowsRead,
      one.rowsCopied,
      one.filesWritten,
    ])
  assert.deepEqual((await brief(id)).sort(), [
    ['SqlDBTable', 100, 100, 0],
    ['SqlDWTable', 100, 100, 0],
    ['SynapseWorkspaceSqlPoolTable', 100, 100, 0],
    ['csv', 100, 0, 1],
  ])
  await client.query("update dbo.orders set customer = 'changed' where id = 7")
  const second = await sharing.synchronize('Incremental')
  assert.equal((await sharing.ended(second)).status, 'Succeeded')
  assert.deepEqual(
    (await brief(second))
      .slice(0, 3)
      .map((one) => one[2])
      .sort(),
    [0, 1, 1],
  )
  sharing.write('giver', 'data/a.txt', 'one')
  const more = await sharing.share('files', 'Container', { containerName: 'data' })
  await sharing.map('files', 'Container', { dataSetId: more, containerName: 'files' })
  const third = await sharing.synchronize('Incremental')
  assert.equal((await sharing.ended(third)).status, 'Succeeded')
  assert.equal(sharing.read('taker', 'files/a.txt'), 'one')
  await client.end()
  await reader.end()
})
