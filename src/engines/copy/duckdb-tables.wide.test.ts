/** Tables between PostgreSQL and DuckDB in both directions, and within DuckDB, by the contract of tables. */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { failure, runTask, taskOf } from './contract.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { MemoryManifest } from './testing/memory-journal.ts'
import { duckdbSide, postgresSide } from './testing/table-sides.ts'
import {
  fillTable,
  rowsOfPair,
  type TablesPair,
  tablesContract,
} from './testing/tables-contract.ts'

let server: Promise<PostgresServer> | undefined
after(async () => (await server)?.[Symbol.asyncDispose]())

type Test = Parameters<typeof requireOrSkip>[0]

function folder(): { readonly root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'armature-duckdb-'))
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) }
}

async function postgres(t: Test) {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return undefined
  server ??= startPostgres({ fsync: false })
  return postgresSide(await server)
}

tablesContract('PostgreSQL to PostgreSQL', inlineEngine, async (t) => {
  const [source, target] = [await postgres(t as Test), await postgres(t as Test)]
  if (source === undefined || target === undefined) return undefined
  const both = { source, target }
  return {
    ...both,
    async [Symbol.asyncDispose]() {
      await source[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
})

tablesContract('DuckDB to DuckDB', inlineEngine, async () => {
  const { root, remove } = folder()
  return {
    source: duckdbSide(root, 'from'),
    target: duckdbSide(root, 'to'),
    [Symbol.asyncDispose]: async () => remove(),
  }
})

for (const way of ['PostgreSQL to DuckDB', 'DuckDB to PostgreSQL'] as const) {
  tablesContract(way, inlineEngine, async (t): Promise<TablesPair | undefined> => {
    const other = await postgres(t as Test)
    if (other === undefined) return undefined
    const { root, remove } = folder()
    const duckdb = duckdbSide(root, 'server')
    const sides =
      way === 'PostgreSQL to DuckDB'
        ? { source: other, target: duckdb }
        : { source: duckdb, target: other }
    return {
      ...sides,
      async [Symbol.asyncDispose]() {
        await other[Symbol.asyncDispose]()
        remove()
      },
    }
  })
}

test('a table of DuckDB becomes one file, as CSV and as Parquet', async () => {
  const { root, remove } = folder()
  try {
    const source = duckdbSide(root, 'from')
    await fillTable(source)
    mkdirSync(join(root, 'files'))
    for (const format of ['Csv', 'Parquet'] as const) {
      const manifest = new MemoryManifest()
      const target = {
        kind: 'folder',
        shape: 'file',
        root: join(root, 'files'),
        container: 'got',
        path: `orders.${format}`,
      } as const
      const task = { ...taskOf({ source: source.location, target }, 'full', manifest), format }
      await runTask(inlineEngine(), task, manifest)
      const counts = manifest.countsOf(task.run)
      assert.deepEqual([counts.rowsRead, counts.filesRead, counts.filesWritten], [5000, 0, 1])
      const path = join(root, 'files/got', `orders.${format}`)
      assert.equal(readFileSync(path).length, counts.sizeWritten)
      const read =
        format === 'Csv' ? `read_csv('${path}', allow_quoted_nulls = false)` : `'${path}'`
      const sums = (from: string) =>
        `select count(*)::varchar, count(name)::varchar, sum(amount)::decimal(12,2)::varchar from ${from}`
      assert.deepEqual(await alone(sums(read)), await source.rows(sums('TABLE')))
      assert.deepEqual(await source.leftovers(), [])
    }
  } finally {
    remove()
  }
})

test('values of every type arrive as what they were, both ways', async (t) => {
  const other = await postgres(t)
  if (other === undefined) return
  const { root, remove } = folder()
  try {
    const [one, two] = [duckdbSide(root, 'one'), duckdbSide(root, 'two')]
    const manifest = () => new MemoryManifest()
    await one.run('create schema SCHEMA')
    await one.run(`create table TABLE as select * from (values
      (1::utinyint, 170141183460469231731687303715884105727::hugeint, 1.5::float, 0.1::double, 12345.678::decimal(38,3),
        true, date '2024-02-29', time '23:59:59.999999', timestamp '1969-12-31 23:59:59.5', 'inf'::double,
        interval '1 month 2 days 03:04:05', '6f1e1f3a-9a6b-4b0e-8f3e-1c2d3e4f5a6b'::uuid, '\\x00\\xFF\\x0A'::blob,
        [1, null, 3], {'a': 'ü"', 'b': null}, map {'k': 1}, 'NULL', '\\N', ' pad '),
      (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, ''))
      v(tiny, huge, f, d, dec, b, day, time_, moment, inf, span, id, bytes, list_, struct_, map_, word, slash, pad)`)
    const there = manifest()
    const out = taskOf({ source: one.location, target: other.location }, 'full', there)
    await runTask(inlineEngine(), out, there)
    const row =
      await other.rows(`select tiny::text, huge::text, f::text, d::text, dec::text, b::text, day::text, time_::text,
      moment::text, inf::text, span::text, id::text, bytes::text, list_::text, struct_::text, map_::text, word, slash, pad
      from TABLE where tiny is not null`)
    assert.deepEqual(row, [
      [
        ...['1', '170141183460469231731687303715884105727', '1.5', '0.1', '12345.678', 'true'],
        ...['2024-02-29', '23:59:59.999999', '1969-12-31 23:59:59.5', 'Infinity'],
        ...['1 mon 2 days 03:04:05', '6f1e1f3a-9a6b-4b0e-8f3e-1c2d3e4f5a6b', '\\x00ff0a'],
        ...['[1, null, 3]', '{"a": "ü\\"", "b": null}', '{"k": 1}', 'NULL', '\\N', ' pad '],
      ],
    ])
    const empty = await other.rows('select pad, word, tiny::text from TABLE where tiny is null')
    assert.deepEqual(empty, [['', null, null]])
    const back = manifest()
    await runTask(
      inlineEngine(),
      taskOf({ source: other.location, target: two.location }, 'full', back),
      back,
    )
    const scalars = `select tiny::varchar, dec::varchar, f::varchar, d::varchar, b::varchar, day::varchar, time_::varchar,
      moment::varchar, inf::varchar, id::varchar, hex(bytes), word, slash, pad from TABLE order by tiny nulls last`
    assert.deepEqual(await two.rows(scalars), await one.rows(scalars))
  } finally {
    remove()
    await other[Symbol.asyncDispose]()
  }
})

test('files do not leave their folder: names, links, and what a view would read', async () => {
  const { root, remove } = folder()
  try {
    const [source, target] = [duckdbSide(root, 'from'), duckdbSide(root, 'to')]
    await fillTable(source)
    const locations = { source: source.location, target: target.location }
    for (const bad of [
      { database: '../from/shop' },
      { database: 'a/b' },
      { folder: '..' },
      { folder: '.armature' },
      { database: '' },
    ]) {
      for (const side of ['source', 'target'] as const) {
        const manifest = new MemoryManifest()
        const task = taskOf(
          { ...locations, [side]: { ...locations[side], ...bad } },
          'full',
          manifest,
        )
        assert.equal((await failure(runTask(inlineEngine(), task, manifest))).code, 'PathRefused')
      }
    }
    symlinkSync(join(root, 'from/shop.duckdb'), join(root, 'from/link.duckdb'))
    const manifest = new MemoryManifest()
    const linked = { ...locations, source: { ...source.location, database: 'link' } }
    const refused = await failure(
      runTask(inlineEngine(), taskOf(linked, 'full', manifest), manifest),
    )
    assert.equal(refused.code, 'PathRefused')
    await source.run("create view SCHEMA.peek as select * from read_text('/etc/hostname')")
    const view = { ...locations, source: { ...source.location, table: 'peek' } }
    const none = await failure(runTask(inlineEngine(), taskOf(view, 'full', manifest), manifest))
    assert.equal(none.code, 'SourceMissing')
  } finally {
    remove()
  }
})

test('a target that is in use is waited for, and its own definition is kept', async () => {
  const { root, remove } = folder()
  try {
    const [source, target] = [duckdbSide(root, 'from'), duckdbSide(root, 'to')]
    await fillTable(source)
    const manifest = new MemoryManifest()
    const locations = { source: source.location, target: target.location }
    await runTask(inlineEngine(), taskOf(locations, 'full', manifest), manifest)
    await target.run('create index by_name on TABLE (name)')
    await target.run("alter table TABLE add column ours varchar default 'kept'")
    await Promise.all([
      runTask(inlineEngine(), taskOf(locations, 'full', manifest), manifest),
      target.rows('select count(*)::varchar from TABLE'),
    ])
    const kept = 'select count(*)::varchar, min(ours), max(ours) from TABLE'
    assert.deepEqual(await target.rows(kept), [[String(rowsOfPair), 'kept', 'kept']])
    const indexes = "select count(*)::varchar from duckdb_indexes() where index_name = 'by_name'"
    assert.deepEqual(await target.rows(indexes), [['1']])
  } finally {
    remove()
  }
})

async function alone(sql: string): Promise<unknown> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const read = await connection.runAndReadAll(sql)
  connection.closeSync()
  instance.closeSync()
  return read.getRowsJson()
}
