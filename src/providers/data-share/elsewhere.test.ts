/** What is known of a copy is known of where it was read and where it was written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duckdb, inFile, serverAt } from './testing/duckdb-file.ts'
import { consumer, type Sharing, sourceGroup, startSharing, targetGroup } from './testing/start.ts'

const modes = ['Incremental', 'FullSync'] as const

async function outcomeOf(started: Sharing, mode: (typeof modes)[number]) {
  const id = await started.synchronize(mode)
  await started.ended(id)
  return (await started.details(id))[0]
}

for (const mode of modes) {
  test(`a mapping that is led elsewhere replaces nothing there, and copies all: ${mode}`, async () => {
    await using started = await startSharing()
    await started.prepare()
    started.write('giver', 'data/a.txt', 'shared')
    const dataSetId = await started.share('folder', 'Container', { containerName: 'data' })
    const mapTo = (containerName: string) =>
      started.map('m', 'Container', { dataSetId, containerName })
    await mapTo('got')
    assert.equal((await outcomeOf(started, 'FullSync')).status, 'Succeeded')
    started.write('taker', 'theirs/precious.txt', 'of somebody else')
    await mapTo('theirs')
    const refused = await outcomeOf(started, mode)
    assert.match(refused.message, /TargetNotEmpty/)
    assert.equal(started.read('taker', 'theirs/precious.txt'), 'of somebody else')
    await mapTo('fresh')
    assert.equal((await outcomeOf(started, mode)).status, 'Succeeded')
    assert.equal(started.read('taker', 'fresh/a.txt'), 'shared')
    assert.equal((await outcomeOf(started, mode)).status, 'Succeeded')
    // It was theirs meanwhile.
    await mapTo('got')
    assert.match((await outcomeOf(started, mode)).message, /TargetNotEmpty/)
  })
}

test('what an earlier version wrote stays the mapping’s own', async () => {
  await using started = await startSharing()
  await started.prepare()
  started.write('giver', 'data/a.txt', 'shared')
  const dataSetId = await started.share('folder', 'Container', { containerName: 'data' })
  await started.map('m', 'Container', { dataSetId, containerName: 'got' })
  await outcomeOf(started, 'FullSync')
  await started.store.sql.transact((tx) =>
    tx.run("update share_manifests set source = '', target = ''"),
  )
  started.write('giver', 'data/b.txt', 'later')
  const next = await outcomeOf(started, 'Incremental')
  assert.deepEqual([next.status, next.filesWritten], ['Succeeded', 1])
})

test('a table that its provider exchanges is copied whole, and a mapped one that is exchanged is not replaced', async () => {
  await using started = await startSharing()
  await started.prepare()
  await started.call('PUT', serverAt(sourceGroup, 'lake'), duckdb)
  await started.call('PUT', serverAt(targetGroup, 'pond'), duckdb, consumer)
  for (const [name, from] of [
    ['orders', 100],
    ['others', 1],
  ] as const) {
    await inFile(started, 'lake', `create table ${name} (id int primary key, customer text)`)
    const rows = `select n, '${name}' from range(${from}, ${from + 10}) t(n)`
    await inFile(started, 'lake', `insert into ${name} ${rows}`)
  }
  await inFile(started, 'pond', "create table theirs as select 1 as id, 'precious' as customer")
  const at = (group: string, server: string, tableName: string) => ({
    databaseName: 'shop',
    schemaName: 'main',
    sqlServerResourceId: serverAt(group, server),
    tableName,
  })
  const share = (table: string) =>
    started.share('t', 'SqlDBTable', { ...at(sourceGroup, 'lake', table), watermarkColumn: 'id' })
  const dataSetId = await share('orders')
  await started.map('t', 'SqlDBTable', { dataSetId, ...at(targetGroup, 'pond', 'got') })
  assert.equal((await outcomeOf(started, 'FullSync')).status, 'Succeeded')
  await share('others')
  assert.equal((await outcomeOf(started, 'Incremental')).status, 'Succeeded')
  const found = 'select customer, count(*)::varchar from got group by all order by all'
  assert.deepEqual(await inFile(started, 'pond', found), [['others', '10']])
  await started.map('t', 'SqlDBTable', { dataSetId, ...at(targetGroup, 'pond', 'theirs') })
  assert.match((await outcomeOf(started, 'FullSync')).message, /TargetNotEmpty/)
  assert.deepEqual(await inFile(started, 'pond', 'select customer from theirs'), [['precious']])
})
