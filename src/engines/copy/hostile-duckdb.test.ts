/** Files of DuckDB whose makers wrote into them what DuckDB itself would not. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DuckDBInstance, DuckDBScalarFunction, DuckDBVarCharType, INTEGER } from '@duckdb/node-api'
import { failure, runTask, taskOf } from './contract.ts'
import type { DuckdbTable } from './engine.ts'
import { openDuckdbFiles } from './tables/duckdb-files.ts'
import { isDuckdbType } from './tables/duckdb-types.ts'
import { openTableStage } from './tables/table-stage.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { MemoryManifest } from './testing/memory-journal.ts'

const orders = { kind: 'duckdb', database: 'd', schema: 'main', table: 'orders' } as const

/** A table with a column of a type that has this name. */
async function makeFile(path: string, typeName: string): Promise<void> {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  connection.registerScalarFunction(
    DuckDBScalarFunction.create({
      name: 'named',
      returnType: DuckDBVarCharType.create(typeName),
      parameterTypes: [INTEGER],
      mainFunction: (_info, input, output) => {
        for (let row = 0; row < input.rowCount; row++) output.setItem(row, 'x')
        output.flush()
      },
    }),
  )
  await connection.run('create table orders as select 1 as id, named(1) as name')
  connection.closeSync()
  instance.closeSync()
}

test('the name of a type continues no statement: neither of a source nor of a target', async () => {
  const root = mkdtempSync(join(tmpdir(), 'armature-hostile-duckdb-'))
  try {
    for (const name of ['from', 'to', 'other']) mkdirSync(join(root, name))
    const stolen = join(root, 'to', 'stolen.csv')
    const other = join(root, 'other', 'd.duckdb')
    await makeFile(other, 'plain')
    await makeFile(
      join(root, 'from', 'd.duckdb'),
      `varchar); attach '${other}' as o (read_only); copy (from o.main.orders) to '${stolen}'; --`,
    )
    const at = (folder: string): DuckdbTable => ({ ...orders, root, folder })
    const copy = async (from: string, to: string) => {
      const manifest = new MemoryManifest()
      manifest.owned = true
      const both = { source: at(from), target: at(to) }
      return await failure(runTask(inlineEngine(), taskOf(both, 'full', manifest), manifest))
    }
    assert.equal((await copy('from', 'to')).code, 'Unsupported')
    assert.equal((await copy('other', 'from')).code, 'Unsupported')
    assert.equal(existsSync(stolen), false)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

test('a type is accepted, and no other text', () => {
  const types = [
    'INTEGER',
    'DECIMAL(18,3)',
    'TIMESTAMP WITH TIME ZONE',
    'VARCHAR[][3]',
    "ENUM('a', 'b''c', ') --')",
    'STRUCT(a INTEGER, "b ""c)" MAP(VARCHAR, TIMESTAMP WITH TIME ZONE[]))',
    'UNION(n INTEGER, s VARCHAR)[]',
    '"NULL"',
  ]
  for (const type of types) assert.ok(isDuckdbType(type), type)
  const none = [
    '',
    'varchar); drop table t; --',
    ') as select 1; --',
    'int default (select 1)',
    'int primary key',
    "e'\\'') ; drop table t; --'",
    '$$a$$) ; --',
    'int --',
    "enum('a') check (true)",
  ]
  for (const text of none) assert.equal(isDuckdbType(text), false, text)
})

/** A table whose generated column calls a function of the file that it is in, by the name under which a run opens it. */
async function makeReading(folder: string, catalog: string, expression: string): Promise<void> {
  for (const name of ['d', 'harmless']) rmSync(join(folder, `${name}.duckdb`), { force: true })
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  // DuckDB refuses such a function for a column. Where the column is made, the name leads to another file.
  await connection.run(`attach '${join(folder, 'harmless.duckdb')}' as "${catalog}"`)
  await connection.run(`create macro "${catalog}".main.got(x) as x::varchar`)
  await connection.run(`attach '${join(folder, 'd.duckdb')}' as made`)
  await connection.run(`create macro made.main.got(x) as (${expression})`)
  await connection.run(
    `create table made.main.orders (id int, name varchar as ("${catalog}".main.got(id)))`,
  )
  await connection.run('insert into made.main.orders values (1)')
  await connection.run('detach made')
  connection.closeSync()
  instance.closeSync()
}

test('a function in a file reads nothing of others below the same folder', async () => {
  const root = mkdtempSync(join(tmpdir(), 'armature-hostile-duckdb-'))
  try {
    for (const name of ['from', 'to', 'other']) mkdirSync(join(root, name))
    writeFileSync(join(root, 'other', 'd.duckdb'), 'of others')
    const at = (folder: string): DuckdbTable => ({ ...orders, root, folder })
    // Whoever may write in a folder may also put a link there.
    symlinkSync(join(root, 'other'), join(root, 'from', 'link'))
    for (const path of ['other/d.duckdb', 'from/link/d.duckdb']) {
      const manifest = new MemoryManifest()
      const task = taskOf({ source: at('from'), target: at('to') }, 'full', manifest)
      const reading = `select max(content) from read_text('${join(root, path)}')`
      await makeReading(join(root, 'from'), `source_${task.token}`, reading)
      const refused = await failure(runTask(inlineEngine(), task, manifest))
      assert.equal(refused.code, 'SourceRefused')
      assert.match(refused.message, /Permission/)
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

test('a link or a pipe beside a file is not followed, also for its log', async () => {
  const root = mkdtempSync(join(tmpdir(), 'armature-hostile-duckdb-'))
  try {
    for (const name of ['from', 'to', 'other']) mkdirSync(join(root, name))
    for (const name of ['from', 'to']) await makeFile(join(root, name, 'd.duckdb'), 'VARCHAR')
    const precious = join(root, 'other', 'precious')
    const at = (folder: string): DuckdbTable => ({ ...orders, root, folder })
    const copy = async (): Promise<string> => {
      const manifest = new MemoryManifest()
      manifest.owned = true
      const both = { source: at('from'), target: at('to') }
      return (await failure(runTask(inlineEngine(), taskOf(both, 'full', manifest), manifest))).code
    }
    for (const folder of ['from', 'to']) {
      for (const ending of ['.wal', '.wal.checkpoint', '.wal.recovery']) {
        const log = join(root, folder, `d.duckdb${ending}`)
        writeFileSync(precious, 'of others')
        symlinkSync(precious, log)
        assert.equal(await copy(), 'PathRefused', log)
        assert.equal(readFileSync(precious, 'utf8'), 'of others')
        rmSync(log)
        execFileSync('mkfifo', [log])
        assert.equal(await copy(), 'PathRefused', log)
        rmSync(log)
      }
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

test('a link that takes the place of a target while rows are read is not followed', async () => {
  const root = mkdtempSync(join(tmpdir(), 'armature-hostile-duckdb-'))
  try {
    for (const name of ['from', 'to', 'other']) mkdirSync(join(root, name))
    for (const name of ['from', 'other']) await makeFile(join(root, name, 'd.duckdb'), 'VARCHAR')
    const before = readFileSync(join(root, 'other', 'd.duckdb'))
    const manifest = new MemoryManifest()
    const at = (folder: string): DuckdbTable => ({ ...orders, root, folder })
    const task = taskOf({ source: at('from'), target: at('to') }, 'full', manifest)
    const stage = openTableStage(root, task)
    const files = await openDuckdbFiles(
      at('to'),
      stage,
      'TargetRefused',
      new AbortController().signal,
    )
    try {
      symlinkSync(join(root, 'other', 'd.duckdb'), join(root, 'to', 'd.duckdb'))
      assert.equal((await failure(files.attach(files.path, 'target', 'write'))).code, 'PathRefused')
    } finally {
      await files[Symbol.asyncDispose]()
    }
    assert.deepEqual(readFileSync(join(root, 'other', 'd.duckdb')), before)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

const [headBytes, blockBytes, checksumBytes] = [3 * 4096, 256 * 1024, 8]
const wrap = (value: bigint): bigint => BigInt.asUintN(64, value)

/** Exchanges a text in a file for another of the same length, and the checksums with it. */
function exchange(path: string, from: string, to: string): void {
  const bytes = readFileSync(path)
  for (let at = headBytes; at < bytes.length; at += blockBytes) {
    const block = bytes.subarray(at, at + blockBytes)
    const found = block.indexOf(from)
    if (found < 0) continue
    block.write(to.padEnd(from.length), found)
    let sum = 5381n
    for (let word = checksumBytes; word < block.length; word += 8) {
      sum ^= wrap(block.readBigUInt64LE(word) * 0xbf58476d1ce4e5b9n)
    }
    block.writeBigUInt64LE(sum)
  }
  writeFileSync(path, bytes)
}

test('the name of a collation in a target’s file continues no statement', async () => {
  const root = mkdtempSync(join(tmpdir(), 'armature-hostile-duckdb-'))
  try {
    for (const name of ['from', 'to']) mkdirSync(join(root, name))
    await makeFile(join(root, 'from', 'd.duckdb'), 'VARCHAR')
    const path = join(root, 'to', 'd.duckdb')
    const instance = await DuckDBInstance.create(path)
    const connection = await instance.connect()
    const collation = Array.from({ length: 20 }, () => 'nocase').join('.')
    await connection.run(`create table orders (id int, name varchar collate ${collation}, n int)`)
    connection.closeSync()
    instance.closeSync()
    exchange(path, collation, 'nocase, n int); create table taken (n int); --')
    const manifest = new MemoryManifest()
    manifest.owned = true
    const at = (folder: string): DuckdbTable => ({ ...orders, root, folder })
    const both = { source: at('from'), target: at('to') }
    const refused = await failure(runTask(inlineEngine(), taskOf(both, 'full', manifest), manifest))
    assert.match(refused.message, /more than one statement/)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
