/**
 * Tables: PostgreSQL to PostgreSQL in full and incrementally, interrupted and cancelled; and tables that become
 * files.
 */

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { Client, escapeLiteral } from 'pg'
import { openSettings } from '#outbound/policy.ts'
import { openWay } from '#outbound/testing/ways.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { failure, runTask, taskOf } from './contract.ts'
import { CopyCancelled, type CopyFailure, type PostgresTable } from './engine.ts'
import { csvToParquet } from './tables/parquet.ts'
import { definition, openTable } from './tables/postgres-table.ts'
import { folderPair } from './testing/folder-pair.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { JournalClosed, MemoryManifest } from './testing/memory-journal.ts'
import { workerEngine } from './worker/worker-engine.ts'

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

test("what a database's owner puts before the system's names is not run", async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const functions = [
    ['set_config', 'text, text, boolean', 'text'],
    ['obj_description', 'oid, name', 'text'],
    ['format_type', 'oid, integer', 'text'],
    ['unnest', 'int2vector', 'setof smallint'],
    ['count', 'oid', 'bigint'],
  ]
  const compared = ['oid', 'name', 'text', '"char"', 'smallint', 'integer', 'bigint', 'xid']
  for (const client of [tables.from, tables.to]) {
    await client.query('create schema hers')
    for (const [name, given, returned] of functions) {
      await client.query(
        `create function hers.${name}(${given}) returns ${returned} language plpgsql as $$ begin raise 'hers.${name}'; end $$`,
      )
    }
    for (const type of compared) {
      await client.query(
        `create function hers.compare(${type}, ${type}) returns boolean language plpgsql as $$ begin raise 'hers.compare ${type}'; end $$`,
      )
      for (const operator of ['=', '<', '>', '<=', '>=', '<>']) {
        await client.query(
          `create operator hers.${operator} (leftarg = ${type}, rightarg = ${type}, function = hers.compare)`,
        )
      }
    }
    const { rows } = await client.query('select current_database() as name')
    await client.query(`alter database "${rows[0].name}" set search_path to hers, pg_catalog`)
  }
  await tables.to.query('create domain hers.text as text check (value is null)')
  const manifest = new MemoryManifest()
  for (const mode of ['full', 'incremental', 'incremental'] as const) {
    await runTask(inlineEngine(), taskOf(tables, mode, manifest), manifest)
    await tables.from.query(`update "Sales ""x""".orders set name = 'new' where id <= 3`)
  }
  const read = await tables.to.query('select count(*)::int as n from "Sales ""x""".orders')
  assert.equal(read.rows[0].n, 5000)
})

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

test('cut off at every call of the journal: taken up again, the same rows, counted once', async (t) => {
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
    assert.ok(died === undefined || died instanceof JournalClosed, String(died))
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
  const journal = { ...manifest.journal(task), publishing: async () => assert.fail('published') }
  await using session = inlineEngine().open()
  const work = session.copy(task, journal, cancel.signal)
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

test('values of every type arrive as what they were, however either side likes to see them', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const [from, to] = [tables.source.database, tables.target.database]
  for (const [database, style] of [
    [from, 'SQL, DMY'],
    [to, 'SQL, MDY'],
  ]) {
    await tables.from.query(`alter database ${database} set datestyle = '${style}'`)
    await tables.from.query(`alter database ${database} set intervalstyle = 'sql_standard'`)
    await tables.from.query(`alter database ${database} set extra_float_digits = -10`)
    await tables.from.query(
      `alter database ${database} set default_transaction_isolation = 'serializable'`,
    )
  }
  const plain = `create table kinds as select n as id, n::smallint as small, n::bigint * 9000000000 as big, n / 7.0::float8 as float,
    (n / 7.0)::float4 as single, case n when 3 then 'NaN'::numeric else n / 7.0 end as number, n % 2 = 0 as flag, md5(n::text)::uuid as uuid,
    'x'::char(3) as padded, repeat('ä' || chr(10) || '\\.', n)::varchar(999) as word, decode(md5(n::text), 'hex') as bytes,
    case n when 4 then 'infinity' else '2026-03-04'::date + n end as day, '2026-03-04 05:06:07.123456'::timestamp + n * interval '1 day' as moment,
    '2026-03-04 05:06:07.123456+02'::timestamptz as instant, '05:06:07.5'::time as hour, n * interval '1 month 2 days 3.5 seconds' as span,
    array[n, null, 2] as several, jsonb_build_object('n', n) as object, '10.0.0.1/8'::inet as address, nullif(n, 5) as gap from generate_series(1, 9) n`
  const enumerated = `create type mood as enum ('good', 'bad'); create table kinds as select n as id, 'bad'::mood as mood,
    '2026-03-04'::date + n as day, n / 7.0::float8 as float, n * interval '1 day 2 hours' as span from generate_series(1, 9) n`
  for (const [at, definition] of [plain, enumerated].entries()) {
    await tables.from.query('drop table if exists kinds')
    await tables.from.query(definition)
    if (at > 0) await tables.to.query(`drop table kinds; create type mood as enum ('bad', 'good')`)
    const manifest = new MemoryManifest()
    const task = taskOf(
      {
        source: { ...tables.source, schema: 'public', table: 'kinds' },
        target: { ...tables.target, schema: 'public', table: 'kinds' },
      },
      'full',
      manifest,
    )
    await runTask(inlineEngine(), task, manifest)
    const rows = 'select k::text as row from kinds k order by id'
    const expected: { rows: object[] } = await tables.from.query(rows)
    assert.equal(expected.rows.length, 9)
    assert.deepEqual((await tables.to.query(rows)).rows, expected.rows)
    assert.equal(manifest.countsOf(task.run).rowsCopied, 9)
  }
})

test('refused in the middle, on either side: the error names that side, and nothing of it stays', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const wide = { ...tables.source, schema: 'public', table: 'wide' }
  await tables.from.query(
    `create view wide as select n as id, repeat('x', 10000) as pad, 1 / (3000 - n) as part from generate_series(1, 4000) n`,
  )
  const failing = { source: wide, target: { ...wide, database: tables.target.database } }
  const manifest = new MemoryManifest()
  const unread: CopyFailure = await failure(
    runTask(inlineEngine(), taskOf(failing, 'full', manifest), manifest),
  )
  assert.deepEqual([unread.code, unread.message.includes('22012')], ['SourceRefused', true])
  await tables.from.query(
    `create or replace view wide as select n as id, repeat('x', 10000) as pad, 1 as part from generate_series(1, 4000) n`,
  )
  await tables.to.query('create table wide (id int check (id <> 3000), pad text, part int)')
  const unwritten: CopyFailure = await failure(
    runTask(inlineEngine(), taskOf(failing, 'full', manifest), manifest),
  )
  assert.deepEqual([unwritten.code, unwritten.message.includes('23514')], ['TargetRefused', true])
  const stages = `select relname from pg_class where relname like 'armature%'`
  assert.deepEqual((await tables.to.query(stages)).rows, [])
  assert.deepEqual((await tables.to.query('select * from wide')).rows, [])
  await tables.to.query('alter table wide drop constraint wide_id_check')
  await runTask(inlineEngine(), taskOf(failing, 'full', manifest), manifest)
  const sums = 'select count(*)::int as n, sum(length(pad))::int as bytes from wide'
  assert.deepEqual((await tables.to.query(sums)).rows, [{ n: 4000, bytes: 40_000_000 }])
})

test('what a server says amid its rows is no part of them', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const noisy = { ...tables.source, schema: 'public', table: 'noisy' }
  await tables.from.query(
    `create function said(n int) returns int language plpgsql as $$ begin raise notice 'row %', n; return n; end $$`,
  )
  // A row comes in several chunks, and a notice in the one that has its end.
  await tables.from.query(
    `create view noisy as select said(n) as id, repeat('x', 100000 + n) as pad from generate_series(1, 100) n`,
  )
  const both = { source: noisy, target: { ...noisy, database: tables.target.database } }
  const manifest = new MemoryManifest()
  await runTask(inlineEngine(), taskOf(both, 'full', manifest), manifest)
  const sums =
    'select count(*)::int as n, sum(id)::int as ids, sum(length(pad))::int as bytes from noisy'
  assert.deepEqual((await tables.to.query(sums)).rows, [{ n: 100, ids: 5050, bytes: 10_005_050 }])
})

test('what a source may make large is not kept: its words, and values of the watermark column', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const manifest = new MemoryManifest()
  const task = () => ({ ...taskOf(tables, 'full', manifest), watermarkColumn: 'name' })
  await runTask(inlineEngine(), task(), manifest)
  assert.match(manifest.watermark ?? '', /"column":"name"/)
  await tables.from.query(`update "Sales ""x""".orders set name = repeat('z', 9000) where id = 1`)
  await runTask(inlineEngine(), task(), manifest)
  assert.equal(manifest.watermark, undefined)
  assert.match(manifest.notes.at(-1) ?? '', /too long/)
  await same(tables)
  await tables.from.query(
    `create function loud() returns int language plpgsql as $$ begin raise '%', repeat('w', 20000000); end $$`,
  )
  await tables.from.query('create view loud as select loud() as id')
  const loud = { ...tables.source, schema: 'public', table: 'loud' }
  const both = { source: loud, target: { ...loud, database: tables.target.database } }
  const spoken = new MemoryManifest()
  const words = await failure(
    runTask(workerEngine(openSettings), taskOf(both, 'full', spoken), spoken),
  )
  assert.match(words.message, /www/)
  assert.ok(words.message.length <= 8000, `${words.message.length} characters`)
})

test('a comment at the target that looks like the end of the run is none, unless it could be ours', async (t) => {
  await using tables = await pair(t)
  if (tables === undefined) return
  const table = '"Sales ""x""".orders'
  const manifest = new MemoryManifest()
  await runTask(inlineEngine(), taskOf(tables, 'full', manifest), manifest)
  for (const said of [{ watermark: 'w'.repeat(9000) }, { rows: 'many' }, { bytes: -1 }]) {
    const task = taskOf(tables, 'full', manifest)
    const marker = { armature: task.token, run: task.run, rows: 1, bytes: 1, ...said }
    await tables.to.query(`comment on table ${table} is ${escapeLiteral(JSON.stringify(marker))}`)
    await runTask(inlineEngine(), task, manifest)
    assert.equal(manifest.countsOf(task.run).rowsCopied, 5000)
    assert.ok((manifest.watermark?.length ?? 0) < 2000)
  }
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

test('wide rows become Parquet in groups of bounded bytes, in their order', async () => {
  await using folders = folderPair()
  const [csv, parquet] = ['csv', 'parquet'].map((name) => join(folders.folder, name))
  assert.ok(csv !== undefined && parquet !== undefined)
  const rows = Array.from({ length: 12_000 }, (_, at) => `${at},${String(at).repeat(2000)}\n`)
  writeFileSync(csv, `id,pad\n${rows.join('')}`)
  await csvToParquet(csv, parquet, [
    { name: 'id', type: 'integer', notNull: false },
    { name: 'pad', type: 'text', notNull: false },
  ])
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const groups = `(select count(distinct row_group_id) from parquet_metadata('${parquet}'))::int`
  const read = await connection.runAndReadAll(
    `select ${groups} > 1, count(*)::int, bool_and(id = file_row_number) from read_parquet('${parquet}', file_row_number = true)`,
  )
  assert.deepEqual(read.getRows()[0], [true, 12_000, true])
  connection.closeSync()
  instance.closeSync()
})

test('a type that is none, as a source may name it, becomes no part of a statement', () => {
  const type = 'integer); commit; create role taken superuser; create table other (a integer'
  assert.throws(() => definition([{ name: 'a', type, notNull: false }]), { code: 'Unsupported' })
})

test('a copy waits for no lock for longer than a minute, whatever the server says', async (t) => {
  await using two = await pair(t)
  if (two === undefined) return
  await two.from.query(`alter role current_user set lock_timeout = 0`)
  const task = { ...taskOf(two, 'full', new MemoryManifest()), outbound: openWay }
  const { rows } = await openTable(two.source, task, 'read', async (client) => {
    const shown = await client.query<{ lock_timeout: string }>('show lock_timeout')
    await client.end()
    return shown
  })
  assert.deepEqual(rows, [{ lock_timeout: '1min' }])
})
