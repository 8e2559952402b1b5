/** Tables: PostgreSQL to PostgreSQL whole and by what changed, cut off and cancelled; and tables that become files. */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { Client } from 'pg'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { failure, runTask, taskOf } from './contract.ts'
import { CopyCancelled, type PostgresTable } from './engine.ts'
import { folderPair } from './testing/folder-pair.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { LedgerDead, MemoryManifest } from './testing/memory-ledger.ts'

let server: Promise<PostgresServer> | undefined
after(async () => (await server)?.[Symbol.asyncDispose]())

interface Pair extends AsyncDisposable {
  readonly source: PostgresTable
  readonly target: PostgresTable
  readonly from: Client
  readonly to: Client
}

async function pair(t: Parameters<typeof requireOrSkip>[0]): Promise<Pair | undefined> {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return undefined
  server ??= startPostgres({ fsync: false })
  const running = await server
  const open = async (): Promise<readonly [PostgresTable, Client]> => {
    const address = await running.createDatabase()
    const url = new URL(address)
    const client = new Client({ connectionString: address })
    await client.connect()
    return [
      {
        kind: 'postgres',
        host: url.hostname,
        port: Number(url.port),
        database: url.pathname.slice(1),
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
        tls: 'off',
        schema: 'Sales "x"',
        table: 'orders',
      },
      client,
    ]
  }
  const [source, from] = await open()
  const [target, to] = await open()
  await from.query('create schema "Sales ""x"""')
  await from.query(`create table "Sales ""x""".orders (id int primary key, name text, "When" timestamptz, amount numeric(12,2),
    twice numeric generated always as (amount * 2) stored)`)
  await from.query(`insert into "Sales ""x""".orders select n, case when n % 7 = 0 then null when n % 5 = 0 then '' else E'line\\n\\t' || n end,
    '2026-01-01'::timestamptz + n * interval '1 hour', n / 3.0 from generate_series(1, 5000) n`)
  return {
    source,
    target,
    from,
    to,
    async [Symbol.asyncDispose]() {
      await from.end()
      await to.end()
    },
  }
}

const sum = `select count(*)::int as n, md5(string_agg(o::text, '|' order by id)) as digest
  from (select id, name, "When", amount from "Sales ""x""".orders) o`

async function same({ from, to }: Pair): Promise<void> {
  assert.deepEqual((await to.query(sum)).rows, (await from.query(sum)).rows)
}

test('whole, then only what changed, by transactions; a whole one again takes what is gone', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const manifest = new MemoryManifest()
  const first = taskOf(tables, 'full', manifest)
  await runTask(inlineEngine(), first, manifest)
  await same(tables)
  const counts = manifest.countsOf(first.run)
  assert.deepEqual([counts.rowsRead, counts.rowsCopied], [5000, 5000])
  assert.ok(counts.sizeRead > 100_000 && counts.sizeRead === counts.sizeWritten)
  const key = await tables.to.query(
    `select count(*)::int as n from pg_index where indisprimary and indrelid = '"Sales ""x""".orders'::regclass`,
  )
  assert.equal(key.rows[0].n, 1)
  const idle = taskOf(tables, 'incremental', manifest)
  await runTask(inlineEngine(), idle, manifest)
  assert.equal(manifest.countsOf(idle.run).rowsRead, 0)
  await tables.from.query(`update "Sales ""x""".orders set name = 'new' where id <= 3`)
  await tables.from.query(`insert into "Sales ""x""".orders values (9001, 'added', now(), 1)`)
  await tables.to.query('create role reader')
  await tables.to.query('grant select on "Sales ""x""".orders to reader')
  const third = taskOf(tables, 'incremental', manifest)
  await runTask(inlineEngine(), third, manifest)
  assert.equal(manifest.countsOf(third.run).rowsCopied, 4)
  await same(tables)
  await tables.from.query(`delete from "Sales ""x""".orders where id > 100`)
  const full = taskOf(tables, 'full', manifest)
  await runTask(inlineEngine(), full, manifest)
  await same(tables)
  const grant = await tables.to.query(
    `select has_table_privilege('reader', '"Sales ""x""".orders', 'select') as may`,
  )
  assert.equal(grant.rows[0].may, true)
  const left = await tables.to.query(
    `select count(*)::int as n from pg_class where relkind = 'r' and relname like 'armature_%'`,
  )
  assert.equal(left.rows[0].n, 0)
})

test('by a column that grows; without a key all is copied, and the note says so', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const manifest = new MemoryManifest()
  const withColumn = (mode: 'full' | 'incremental') => ({
    ...taskOf(tables, mode, manifest),
    watermarkColumn: 'id',
  })
  await runTask(inlineEngine(), withColumn('full'), manifest)
  await tables.from.query(
    `insert into "Sales ""x""".orders select n, 'more', now(), 1 from generate_series(5001, 5010) n`,
  )
  const second = withColumn('incremental')
  await runTask(inlineEngine(), second, manifest)
  assert.equal(manifest.countsOf(second.run).rowsCopied, 11, 'ten, and the last one once more')
  await same(tables)
  await tables.from.query('alter table "Sales ""x""".orders drop constraint orders_pkey')
  const third = withColumn('incremental')
  await runTask(inlineEngine(), third, manifest)
  assert.equal(manifest.countsOf(third.run).rowsCopied, 5010)
  assert.match(manifest.notes[0] ?? '', /primary key/)
})

test('cut off at every call of the ledger: taken up again, the same rows, counted once', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  for (let cut = 0; cut < 4; cut++) {
    const manifest = new MemoryManifest()
    await tables.to.query('drop table if exists "Sales ""x""".orders')
    const run = `d${cut}`.padEnd(12, '0')
    manifest.callsLeft = cut
    const died = await runTask(
      inlineEngine(),
      taskOf(tables, 'full', manifest, run),
      manifest,
    ).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    assert.ok(died === undefined || died instanceof LedgerDead, String(died))
    manifest.callsLeft = Number.POSITIVE_INFINITY
    if (died !== undefined)
      await runTask(inlineEngine(), taskOf(tables, 'full', manifest, run), manifest)
    await same(tables)
    assert.equal(manifest.countsOf(run).rowsCopied, 5000, `cut at ${cut}`)
  }
})

test('cancelled, refused and unreachable: the table as it was, and no password in the message', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const manifest = new MemoryManifest()
  await runTask(inlineEngine(), taskOf(tables, 'full', manifest), manifest)
  await tables.from.query('delete from "Sales ""x""".orders where id > 10')
  const task = taskOf(tables, 'full', manifest)
  const cancel = new AbortController()
  const ledger = { ...manifest.ledger(task), publishing: async () => assert.fail('published') }
  await using session = inlineEngine().open()
  const work = session.copy(task, ledger, cancel.signal)
  cancel.abort()
  await assert.rejects(work, CopyCancelled)
  assert.equal(
    (await tables.to.query('select count(*)::int as n from "Sales ""x""".orders')).rows[0].n,
    5000,
  )
  const wrong = { ...tables.source, password: 'hush-wrong' }
  const refused = await failure(
    runTask(inlineEngine(), { ...taskOf(tables, 'full', manifest), source: wrong }, manifest),
  )
  assert.ok(!refused.message.includes('hush'))
  assert.equal(refused.retry, 'never')
  const away = { ...tables.source, port: 1 }
  const gone = await failure(
    runTask(inlineEngine(), { ...taskOf(tables, 'full', manifest), source: away }, manifest),
  )
  assert.deepEqual([gone.code, gone.retry], ['Unreachable', 'later'])
  const missing = { ...tables.source, table: 'none' }
  const none = await failure(
    runTask(inlineEngine(), { ...taskOf(tables, 'full', manifest), source: missing }, manifest),
  )
  assert.equal(none.code, 'SourceMissing')
  const fresh = new MemoryManifest()
  const taken = await failure(runTask(inlineEngine(), taskOf(tables, 'full', fresh), fresh))
  assert.equal(taken.code, 'TargetNotEmpty')
})

test('a table becomes one file, as CSV and as Parquet', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  await using folders = folderPair()
  mkdirSync(join(folders.folder, 'to'), { recursive: true })
  for (const format of ['Csv', 'Parquet'] as const) {
    const manifest = new MemoryManifest()
    const target = { ...folders.target, shape: 'file' as const, path: `out.${format}` }
    const task = { ...taskOf({ source: tables.source, target }, 'full', manifest), format }
    await runTask(inlineEngine(), task, manifest)
    const counts = manifest.countsOf(task.run)
    assert.deepEqual([counts.rowsRead, counts.filesRead, counts.filesWritten], [5000, 0, 1])
    const path = join(folders.folder, 'to/data', `out.${format}`)
    assert.equal(readFileSync(path).length, counts.sizeWritten)
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const read = format === 'Csv' ? `read_csv('${path}', allow_quoted_nulls = false)` : `'${path}'`
    const found = await connection.runAndReadAll(
      `select count(*)::int, count(name)::int, sum(amount)::decimal(12,2)::varchar from ${read}`,
    )
    const expected: { rows: object[] } = await tables.from.query(
      'select count(*)::int, count(name)::int as n, sum(amount)::text from "Sales ""x""".orders',
    )
    assert.deepEqual(found.getRows()[0], Object.values(expected.rows[0] ?? {}))
    connection.closeSync()
    instance.closeSync()
  }
})
