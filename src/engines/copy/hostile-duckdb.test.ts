/** Files of DuckDB whose makers wrote into them what DuckDB itself would not. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DuckDBInstance, DuckDBScalarFunction, DuckDBVarCharType, INTEGER } from '@duckdb/node-api'
import { failure, runTask, taskOf } from './contract.ts'
import type { DuckdbTable } from './engine.ts'
import { isDuckdbType } from './tables/duckdb-types.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { MemoryManifest } from './testing/memory-journal.ts'

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
    const at = (folder: string): DuckdbTable => ({
      kind: 'duckdb',
      root,
      folder,
      database: 'd',
      schema: 'main',
      table: 'orders',
    })
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
