/** Which statements stay prepared on each connection. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { requireOrSkip } from '../../../tests/require.ts'
import { contractOptions } from '../contract/setting.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '../testing/postgres-server.ts'
import { openPostgres } from './open.ts'
import { PreparedStatements } from './session.ts'

test('texts that stay prepared have so many characters together', () => {
  const prepared = new PreparedStatements()
  const isNamed = (text: string): boolean => {
    prepared.relational(text, [1])
    return typeof prepared.relational(text, [1]) !== 'string'
  }
  assert.ok(isNamed('select ? as first'))
  const long = Array.from({ length: 100 }, (_, at) => `select ? as a${at} -- ${'x'.repeat(4_000)}`)
  const named = long.filter(isNamed)
  assert.ok(named.length > 10 && named.length < 40, `${named.length} of them`)
  // What was prepared stays so.
  assert.ok(isNamed('select ? as first') && isNamed(long[0] ?? ''))
})

test('what may scan a table is written by callers, and stays prepared on no connection', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  await using store = await openPostgres({ url, poolSize: 1, clock: Date, ...contractOptions })
  const { sql } = store
  const prepared = async (like: string): Promise<unknown> => {
    const text = 'select count(*) as n from pg_prepared_statements where statement like ?'
    return (await sql.all(text, like))[0]?.['n']
  }
  for (let time = 0; time < 3; time++) {
    await sql.all('select cast(? as int) as asked', 1)
    assert.deepEqual(await sql.scan('select cast(? as int) as scanned', 1), [{ scanned: 1 }])
    await sql.snapshot(async ({ all, scan }) => {
      await all('select cast(? as int) as asked', 1)
      assert.deepEqual(await scan('select cast(? as int) as scanned', 1), [{ scanned: 1 }])
    })
  }
  assert.equal(await prepared('%as asked%'), 1)
  assert.equal(await prepared('%as scanned%'), 0)
})
