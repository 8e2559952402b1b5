/** The function that SQLite is given: exact where 64 bits are not, halves away from zero. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { StatementTooLong } from '../store.ts'
import { defineFunctions, StatementTime } from './functions.ts'
import { RelationalStatements } from './relational.ts'

test('share_of is exact, rounds halves away from zero, and gives 0 of nothing', () => {
  const db = new DatabaseSync(':memory:')
  defineFunctions(db, new StatementTime(60))
  const statement = db.prepare(
    'select share_of(cast(? as int), cast(? as int), cast(? as int), cast(? as int)) as share',
  )
  const cases = [
    [[10, 1, 3, 1], 3],
    [[1, 1, 2, 1], 1],
    [[-1, 1, 2, 1], -1],
    [[1, -1, 2, 1], -1],
    [[-1, -1, 2, 1], 1],
    [[1, 1, -2, 1], -1],
    [[1500, 1, 1, 1000], 2000],
    [[1499, 1, 1, 1000], 1000],
    [[999_999_999_999_999, 999_999_999_999_997, 999_999_999_999_998, 1], 999_999_999_999_998],
    [[5, 5, 0, 1], 0],
    [[null, 5, 1, 1], null],
  ] as const
  for (const [given, wanted] of cases)
    assert.deepEqual({ ...statement.get(...given) }, { share: wanted })
  db.close()
})

test('a statement that computes for too long ends, and the next one begins anew', () => {
  const db = new DatabaseSync(':memory:')
  const time = new StatementTime(0)
  defineFunctions(db, time)
  const statements = new RelationalStatements(db, time)
  const rows = (
    count: number,
  ) => `with recursive up (n) as (select 1 union all select n + 1 from up limit ${count})
    select count(*) as n from up where within_time(n > 0)`
  // The system may count processor time in ticks of milliseconds, so there is work for many.
  assert.throws(() => statements.all(rows(10_000_000), []), StatementTooLong)
  // A few rows that take long each.
  const long = `${rows(1000)} and length(hex(zeroblob(1000000 + n))) > 0`
  assert.throws(() => statements.all(long, []), StatementTooLong)
  // Too few to look at the clock more than once.
  for (let round = 0; round < 3; round++) assert.deepEqual(statements.all(rows(1), []), [{ n: 1 }])
  const { threadCpuUsage } = process
  Object.assign(process, { threadCpuUsage: undefined })
  try {
    assert.throws(() => statements.all(rows(10_000_000), []), StatementTooLong)
  } finally {
    Object.assign(process, { threadCpuUsage })
  }
  db.close()
})

test('a statement ends soon where its rows take long after many that do not', () => {
  const db = new DatabaseSync(':memory:')
  const time = new StatementTime(0.05)
  defineFunctions(db, time)
  let slow = 0
  db.function('slow', (n) => {
    slow++
    return createHash('sha256').update(Buffer.alloc(2_000_000)).digest().length + Number(n)
  })
  const text = `with recursive up (n) as (select 1 union all select n + 1 from up limit 3000)
    select count(*) as n from up where within_time(n > 0) and (n < 1100 or slow(n) > 0)`
  assert.throws(() => new RelationalStatements(db, time).all(text, []), StatementTooLong)
  assert.ok(slow < 500, `${slow} rows`)
  db.close()
})

class Counting extends DatabaseSync {
  prepared = 0
  override prepare(...given: Parameters<DatabaseSync['prepare']>) {
    this.prepared++
    return super.prepare(...given)
  }
}

test('a statement that is used again stays prepared, except a long one', () => {
  const db = new Counting(':memory:')
  const statements = new RelationalStatements(db, new StatementTime(60))
  const long = `select 1 as one -- ${'x'.repeat(20_000)}`
  for (const [text, wanted] of [
    ['select 1 as one', 1],
    [long, 4],
  ] as const) {
    for (let time = 0; time < 3; time++) assert.deepEqual(statements.all(text, []), [{ one: 1 }])
    assert.equal(db.prepared, wanted)
  }
  db.close()
})
