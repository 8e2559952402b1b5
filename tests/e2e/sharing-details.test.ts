/**
 * Operation 5 by value (contract, data-share synchronization): for a synchronization of a folder, a table and a
 * missing file, every field of every record says what the synchronization really did; on both stores.
 */

import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { requireOrSkip } from '../require.ts'
import { freshHome, type Installation, startInstallation } from './installation.ts'

const version = 'api-version=2021-08-01'

async function made(server: Installation, path: string, body: object): Promise<unknown> {
  const answer = await server.request('PUT', path, { body })
  assert.ok([200, 201].includes(answer.status), `${path}: ${answer.text}`)
  const watched = answer.headers.get('vendor-asyncoperation')
  for (let looks = 0; watched !== null && looks < 200; looks++) {
    const state = await server.request('GET', watched)
    if (state.at('status') === 'Succeeded') break
    assert.notEqual(state.at('status'), 'Failed', state.text)
    await sleep(50)
  }
  return answer.at('properties')
}

/** Two accounts, four stores, three data sets and their mappings; the subscription's path. */
async function shared(server: Installation): Promise<string> {
  const group = `/subscriptions/${server.subscriptionId}/resourceGroups/g`
  await made(server, `${group}?api-version=2021-04-01`, { location: 'here' })
  const store = (name: string) => `${group}/providers/Vendor.Storage/storageAccounts/${name}`
  const sql = (name: string) => `${group}/providers/Vendor.Sql/servers/${name}`
  const folder = { location: 'here', properties: { kind: 'Folder' } }
  const files = { location: 'here', properties: { kind: 'DuckDb' } }
  for (const name of ['giver', 'taker'])
    await made(server, `${store(name)}?api-version=2023-01-01`, folder)
  for (const name of ['lake', 'pond'])
    await made(server, `${sql(name)}?api-version=2021-11-01`, files)
  const at = (name: string) => `${group}/providers/Vendor.DataShare/accounts/${name}`
  for (const name of ['p', 'c']) await made(server, `${at(name)}?${version}`, { location: 'here' })
  const share = `${at('p')}/shares/s`
  await made(server, `${share}?${version}`, { properties: {} })
  const located = (storageAccountName: string) => ({
    subscriptionId: server.subscriptionId,
    resourceGroup: 'g',
    storageAccountName,
  })
  const invited = { properties: { targetActiveDirectoryId: server.tenantId } }
  const invitation = await made(server, `${share}/invitations/i?${version}`, invited)
  const subscription = `${at('c')}/shareSubscriptions/ss`
  // Every invitation has one.
  const { invitationId } = invitation as { invitationId: string }
  await made(server, `${subscription}?${version}`, {
    properties: { invitationId, sourceShareLocation: 'here' },
  })
  const table = (name: string) => ({
    databaseName: 'shop',
    schemaName: 'main',
    sqlServerResourceId: sql(name),
    tableName: 'orders',
  })
  const sets = [
    [
      'a-folder',
      'BlobFolder',
      { ...located('giver'), containerName: 'data', prefix: 'in' },
      { ...located('taker'), containerName: 'got', prefix: 'all' },
    ],
    [
      'b-missing',
      'Blob',
      { ...located('giver'), containerName: 'data', filePath: 'none.txt' },
      { ...located('taker'), containerName: 'got', filePath: 'none.txt' },
    ],
    ['c-table', 'SqlDBTable', table('lake'), table('pond')],
  ] as const
  for (const [name, kind, properties, target] of sets) {
    const set = await made(server, `${share}/dataSets/${name}?${version}`, { kind, properties })
    // Every data set has one.
    const { dataSetId } = set as { dataSetId: string }
    const mapping = { kind, properties: { ...target, dataSetId } }
    await made(server, `${subscription}/dataSetMappings/${name}?${version}`, mapping)
  }
  return subscription
}

async function synchronized(server: Installation, subscription: string): Promise<string> {
  const begun = await server.request('POST', `${subscription}/synchronize?${version}`, {
    body: { synchronizationMode: 'FullSync' },
  })
  assert.equal(begun.status, 202, begun.text)
  const id = String(begun.at('synchronizationId'))
  for (let looks = 0; looks < 600; looks++) {
    const runs = await server.request('POST', `${subscription}/listSynchronizations?${version}`)
    const run = runs.items().find((one) => one['synchronizationId'] === id)
    if (run?.['endTime'] !== undefined) return id
    await sleep(50)
  }
  throw new Error('it never ended')
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`every field of the details is what was done (${kind})`, { timeout: 360_000 }, async (t) => {
    const isPostgres = kind === 'PostgreSQL'
    if (isPostgres && !requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
    await using database = isPostgres ? await startPostgres({ fsync: false }) : undefined
    const store = await database?.createDatabase()
    const home = freshHome()
    try {
      await using server = await startInstallation({
        home,
        ...(store === undefined ? {} : { store }),
      })
      const source = join(home, 'storage/giver/data/in')
      mkdirSync(join(source, 'deep'), { recursive: true })
      writeFileSync(join(source, 'a.txt'), 'x'.repeat(1000))
      writeFileSync(join(source, 'deep/b.txt'), 'y'.repeat(24))
      mkdirSync(join(home, 'databases/lake'), { recursive: true })
      const instance = await DuckDBInstance.create(join(home, 'databases/lake/shop.duckdb'))
      const connection = await instance.connect()
      await connection.run('create table orders as select n as id from range(250) t(n)')
      connection.closeSync()
      instance.closeSync()

      const subscription = await shared(server)
      const synchronizationId = await synchronized(server, subscription)
      const path = `${subscription}/listSynchronizationDetails?${version}`
      const answer = await server.request('POST', path, { body: { synchronizationId } })
      assert.equal(answer.status, 200, answer.text)
      const records = answer.items()
      const identified = await server.request('POST', `${path}&$orderby=name desc`, {
        body: { synchronizationId },
      })
      assert.deepEqual(
        identified.items().map((one) => one['name']),
        ['c-table', 'b-missing', 'a-folder'],
      )
      const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
      for (const one of records) {
        assert.match(String(one['startTime']), moment)
        assert.match(String(one['endTime']), moment)
        const took = Date.parse(String(one['endTime'])) - Date.parse(String(one['startTime']))
        assert.equal(one['durationMs'], took)
        assert.match(String(one['dataSetId']), /^[0-9a-f-]{36}$/)
      }
      const counted = records.map(({ startTime, endTime, durationMs, dataSetId, ...rest }) => rest)
      const table = records.find((one) => one['name'] === 'c-table')
      assert.ok(Number(table?.['sizeRead']) > 0)
      const none = {
        filesRead: 0,
        filesWritten: 0,
        rowsRead: 0,
        rowsCopied: 0,
        sizeRead: 0,
        sizeWritten: 0,
      }
      assert.deepEqual(counted, [
        {
          ...none,
          dataSetType: 'BlobFolder',
          name: 'a-folder',
          status: 'Succeeded',
          filesRead: 2,
          filesWritten: 2,
          sizeRead: 1024,
          sizeWritten: 1024,
          vCore: 1,
        },
        {
          ...none,
          dataSetType: 'Blob',
          name: 'b-missing',
          status: 'Failed',
          message: "SourceMissing: there is no file 'data/none.txt'",
          vCore: 1,
        },
        {
          ...none,
          dataSetType: 'SqlDBTable',
          name: 'c-table',
          status: 'Succeeded',
          rowsRead: 250,
          rowsCopied: 250,
          sizeRead: table?.['sizeRead'],
          sizeWritten: table?.['sizeRead'],
          vCore: 1,
        },
      ])
      assert.equal(answer.at('nextLink'), undefined)

      const first = await server.request('POST', `${path}&$top=2`, { body: { synchronizationId } })
      assert.equal(first.items().length, 2)
      const next = new URL(String(first.at('nextLink')))
      const second = await server.request('POST', next.pathname + next.search, {
        body: { synchronizationId },
      })
      assert.deepEqual(
        second.items().map((one) => one['name']),
        ['c-table'],
      )
      assert.equal(second.at('nextLink'), undefined)
      const failed = await server.request('POST', `${path}&$filter=status eq 'Failed'`, {
        body: { synchronizationId },
      })
      assert.deepEqual(
        failed.items().map((one) => one['name']),
        ['b-missing'],
      )
      const provider = subscription.replace(/accounts\/c\/.*/, 'accounts/p/shares/s')
      const theirs = await server.request(
        'POST',
        `${provider}/listSynchronizationDetails?${version}`,
        {
          body: { synchronizationId },
        },
      )
      assert.deepEqual(theirs.items(), records)
      const nothing = await server.request('POST', path, { body: {} })
      assert.equal(nothing.status, 400)
      assert.equal(typeof nothing.at('error.code'), 'string')
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
}
