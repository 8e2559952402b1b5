/** Shared tables of DuckDB files: every kind of table is copied between them, and what is refused. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duckdb, inFile, serverAt } from './testing/duckdb-file.ts'
import { consumer, sourceGroup, startSharing, targetGroup } from './testing/start.ts'

test('every kind of table copies from a DuckDB file to another, whole and by a column, and into a file', async () => {
  await using sharing = await startSharing()
  await sharing.prepare()
  await sharing.call('PUT', serverAt(sourceGroup, 'lake'), duckdb)
  await sharing.call('PUT', serverAt(targetGroup, 'pond'), duckdb, consumer)
  await inFile(sharing, 'lake', 'create table orders (id int primary key, customer text)')
  await inFile(sharing, 'lake', "insert into orders select n, 'c' || n from range(1, 101) t(n)")
  const table = (group: string, server: string, name: string) => ({
    SqlDBTable: {
      databaseName: 'shop',
      schemaName: 'main',
      sqlServerResourceId: serverAt(group, server),
      tableName: name,
    },
    SqlDWTable: {
      dataWarehouseName: 'shop',
      schemaName: 'main',
      sqlServerResourceId: serverAt(group, server),
      tableName: name,
    },
    SynapseWorkspaceSqlPoolTable: {
      synapseWorkspaceSqlPoolTableResourceId: `${group}/providers/Vendor.Synapse/workspaces/${server}/sqlPools/shop/schemas/main/tables/${name}`,
    },
  })
  const kinds = ['SqlDBTable', 'SqlDWTable', 'SynapseWorkspaceSqlPoolTable'] as const
  for (const kind of kinds) {
    const source = table(sourceGroup, 'lake', 'orders')[kind]
    const dataSetId = await sharing.share(kind, kind, { ...source, watermarkColumn: 'id' })
    const target = table(targetGroup, 'pond', kind.toLowerCase())[kind]
    const mapped = await sharing.map(kind, kind, { dataSetId, ...target })
    assert.equal(mapped.status, 201, JSON.stringify(mapped.body))
  }
  const dataSetId = await sharing.share(
    'csv',
    'SqlDBTable',
    table(sourceGroup, 'lake', 'orders').SqlDBTable,
  )
  const file = { dataSetId, containerName: 'got', filePath: 'orders.csv', outputType: 'Csv' }
  await sharing.map('csv', 'Blob', file)
  const first = await sharing.synchronize()
  const run = await sharing.ended(first)
  assert.equal(run.status, 'Succeeded', JSON.stringify(await sharing.details(first)))
  for (const kind of kinds) {
    const count = `select count(*)::varchar from ${kind.toLowerCase()}`
    assert.deepEqual(await inFile(sharing, 'pond', count), [['100']], kind)
  }
  assert.equal(sharing.read('taker', 'got/orders.csv').split('\n').length, 102)
  await inFile(sharing, 'lake', "insert into orders values (101, 'new')")
  const second = await sharing.synchronize('Incremental')
  assert.equal((await sharing.ended(second)).status, 'Succeeded')
  const copied = (await sharing.details(second)).map((one) => [one.name, one.rowsCopied])
  assert.deepEqual(copied.sort(), [
    ['SqlDBTable', 2],
    ['SqlDWTable', 2],
    ['SynapseWorkspaceSqlPoolTable', 2],
    ['csv', 0],
  ])
})

test('a server of DuckDB has a name of its own, shows no more than its kind, and a lost file is reported', async () => {
  await using sharing = await startSharing()
  await sharing.prepare()
  const made = await sharing.call('PUT', serverAt(sourceGroup, 'lake'), duckdb)
  assert.deepEqual(made.body.properties, { provisioningState: 'Succeeded', kind: 'DuckDb' })
  await assert.rejects(
    sharing.call('PUT', serverAt(targetGroup, 'lake'), duckdb, consumer),
    (error: { code?: string }) => error.code === 'SqlServerAlreadyTaken',
  )
  await assert.rejects(
    sharing.call('PUT', serverAt(targetGroup, 'other'), { location: 'here', properties: {} }),
  )
  const place = {
    databaseName: 'shop',
    schemaName: 'main',
    sqlServerResourceId: serverAt(sourceGroup, 'lake'),
    tableName: 'orders',
  }
  const dataSetId = await sharing.share('orders', 'SqlDBTable', place)
  const target = { ...place, dataSetId, tableName: 'copy' }
  assert.equal((await sharing.map('orders', 'SqlDBTable', target)).status, 201)
  const id = await sharing.synchronize()
  assert.equal((await sharing.ended(id)).status, 'Failed')
  const [detail] = await sharing.details(id)
  assert.match(detail.message, /^SourceMissing: there is no table main\.orders in 'shop'/)
  assert.ok(!detail.message.includes(sharing.root))
})
