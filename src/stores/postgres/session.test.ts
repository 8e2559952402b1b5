/** Which statements stay prepared on each connection, and what becomes of one that takes too long. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { requireOrSkip } from '../../../tests/require.ts'
import { until } from '../../../tests/until.ts'
import { contractOptions } from '../contract/setting.ts'
import { rememberedCharactersMax } from '../sql.ts'
import { StatementTooLong, StoreUnavailable } from '../store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '../testing/postgres-server.ts'
import { openPostgres } from './open.ts'
import { PreparedStatements } from './session.ts'

test('texts that stay prepared have so many characters together, and what was last used stays', () => {
  const prepared = new PreparedStatements()
  const own = 'select ? as own'
  const isNamed = (text: string): boolean => typeof prepared.relational(text, [1]) !== 'string'
  const long = Array.from({ length: 100 }, (_, at) => `select ? as a${at} -- ${'x'.repeat(4_000)}`)
  for (const text of long) {
    for (const one of [own, text, text]) prepared.relational(one, [1])
    assert.ok(isNamed(own) && isNamed(text))
  }
  // What has no name gets none by being asked once.
  const named = long.filter(isNamed)
  assert.ok(named.length > 10 && named.length < 40, `${named.length} of them`)
})

test('a long text gets no name, and is not remembered', () => {
  const prepared = new PreparedStatements()
  const isNamed = (text: string): boolean => typeof prepared.relational(text, [1]) !== 'string'
  const withCharacters = (count: number): string => `select ? as one -- `.padEnd(count, 'x')
  for (const [count, expected] of [
    [rememberedCharactersMax, true],
    [rememberedCharactersMax + 1, false],
  ] as const) {
    const text = withCharacters(count)
    assert.equal(isNamed(text), false)
    assert.equal(isNamed(text), expected)
    assert.equal(isNamed(text), expected)
  }
})

test('a connection lets go of the texts that were used longest ago', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  await using store = await openPostgres({ url, poolSize: 1, clock: Date, ...contractOptions })
  const { sql } = store
  const own = (): Promise<unknown> => sql.all('select cast(? as int) as own', 1)
  const look = async (at: number): Promise<void> => {
    const expected = [{ [`column${at}`]: at }]
    const text = `select cast(? as int) as column${at}`
    assert.deepEqual(await sql.all(text, at), expected)
    assert.deepEqual(await sql.transact((tx) => tx.all(text, at)), expected)
    assert.deepEqual(await sql.all(text, at), expected)
  }
  for (let at = 0; at < 400; at++) {
    await own()
    await look(at)
  }
  await look(0)
  const rows = await sql.all('select statement from pg_prepared_statements')
  const kept = rows.map(({ statement }) => String(statement))
  assert.ok(kept.filter((text) => / as (own|column)/.test(text)).length <= 300, `${kept.length}`)
  for (const name of ['own', 'column0', 'column399']) {
    assert.equal(kept.filter((text) => text.endsWith(` as ${name}`)).length, 1, name)
  }
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

test('what the server ends took too long where it may scan a table, and cannot be answered elsewhere', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  await using store = await openPostgres({ url, poolSize: 4, clock: Date, ...contractOptions })
  const { sql } = store
  const long = 'select 1 as one from (select pg_sleep(600)) as slept'
  /** As the server does by itself after so many seconds. */
  const ended = async (asked: Promise<unknown>): Promise<unknown> => {
    const failure = asked.then(
      () => undefined,
      (error: unknown) => error,
    )
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where query = ? and state = 'active'`
    await until(async () => (await sql.all(cancel, long)).length > 0)
    return failure
  }
  assert.ok((await ended(sql.scan(long))) instanceof StatementTooLong)
  assert.ok((await ended(sql.snapshot(({ scan }) => scan(long)))) instanceof StatementTooLong)
  // Work of a snapshot may answer for it: nothing of it can be half done. What comes later in it took too long, too.
  const answers: unknown[] = []
  const answered = sql.snapshot(async ({ all, scan }) => {
    for (const look of [() => scan(long), () => all('select 1 as one')])
      answers.push(await look().catch((error: unknown) => error))
  })
  assert.equal(await ended(answered), undefined)
  assert.deepEqual(
    answers.map((one) => one instanceof StatementTooLong),
    [true, true],
  )
  for (const ask of [() => sql.all(long), () => sql.transact((tx) => tx.all(long))]) {
    const error = await ended(ask())
    assert.ok(error instanceof StoreUnavailable && !(error instanceof StatementTooLong))
  }
  assert.deepEqual(await sql.scan('select 1 as one'), [{ one: 1 }])
})
