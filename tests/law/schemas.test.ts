/** The committed dumps of both stores' schemas equal the result of the migrations. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { postgresSchema, sqliteSchema } from '../../tools/generate/schema-pages.ts'
import { makeWholeSchema, readNewStore } from '../../tools/whole-schema.ts'
import { requireOrSkip } from '../require.ts'

const reference = join(import.meta.dirname, '../../docs/reference')

test('docs/reference/schema.sqlite.sql is what SQLite holds', async () => {
  const committed = readFileSync(join(reference, 'schema.sqlite.sql'), 'utf8')
  assert.equal(await sqliteSchema(), committed, 'run `npm run generate`')
  for (const table of ['resources', 'business_companies', 'billing_entries', 'events']) {
    assert.match(committed, new RegExp(`create table ${table} `, 'i'))
  }
})

test('the script that a build runs in an empty file makes what the migrations make', async () => {
  const script = await makeWholeSchema()
  const [steps, whole] = [await readNewStore(), await readNewStore(script)]
  const byName = ({ entries }: typeof steps) =>
    [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))
  assert.deepEqual(byName(whole), byName(steps))
  const rowsOf = ({ rows }: typeof steps) => Object.fromEntries(rows)
  assert.deepEqual(rowsOf(whole), rowsOf(steps))
})

test('docs/reference/schema.postgres.sql is what PostgreSQL holds', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const schema = await postgresSchema(await server.createDatabase())
  const page = join(reference, 'schema.postgres.sql')
  // The generator starts no server, so the page is written here.
  if (process.env['ARMATURE_WRITE_SCHEMA'] === 'postgres') writeFileSync(page, schema)
  assert.equal(
    schema,
    readFileSync(page, 'utf8'),
    'run this test with ARMATURE_WRITE_SCHEMA=postgres and commit what it writes',
  )
})
