/**
 * Whatever is recorded and queried, the joined pages equal a plain scan of all records, newest first: on SQLite by
 * blocks, on PostgreSQL by index. The sweep removes old records and nothing else.
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { contractOptions } from '#stores/contract/setting.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { fc } from '../../tests/property.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { turnsOf } from '../../tests/turns.ts'
import { blockRows, summarizeBlock, type Terms } from './blocks.ts'
import { readActivity } from './read.ts'
import { targetOf, toEvent } from './record.ts'
import { type ActivityQuery, matchesQuery, type StoredActivity } from './stored-activity.ts'
import { sweepActivity } from './sweep.ts'

const subscriptions = ['a', 'b'].map((one) => `0000000${one}-0000-4000-8000-000000000000`)
const targets = [
  '/',
  '/directory/users/u',
  ...subscriptions.flatMap((one) => [
    `/subscriptions/${one}`,
    `/subscriptions/${one}/resourceGroups/G`,
    `/subscriptions/${one}/resourceGroups/G/providers/Vendor.Storage/storageAccounts/s`,
    `/subscriptions/${one}/resourceGroups/Gx/providers/Vendor.Sql/servers/q`,
  ]),
]
const actions = ['Vendor.Storage/storageAccounts/write', 'Vendor.Sql/servers/delete']

const record = fc.record({
  at: fc.nat(200),
  target: fc.constantFrom(...targets),
  action: fc.constantFrom(...actions),
  principal: fc.constantFrom('p', 'q'),
  correlation: fc.nat(400).map(String),
})
const term = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const question = fc.record({
  key: term(fc.constantFrom(...targets.map((one) => one.toLowerCase()))),
  subscription: term(fc.constantFrom(...subscriptions)),
  group: term(fc.constant(`/subscriptions/${subscriptions[0]}/resourcegroups/g`)),
  provider: term(fc.constantFrom('vendor.storage', 'vendor.nothing')),
  caller: term(fc.constantFrom('p', 'name of q', 'nobody')),
  correlation: term(fc.nat(400).map(String)),
  from: term(fc.nat(200)),
  until: term(fc.nat(200)),
  limit: fc.integer({ min: 60, max: 300 }),
})

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never

async function fill(store: Store, records: readonly ValueOf<typeof record>[]) {
  await store.sql.transact(async (tx) => {
    await tx.run('delete from events')
    if (store.dialect === 'sqlite') await tx.run('delete from event_blocks')
    for (const { at, target, action, principal, correlation } of records) {
      const who = { id: principal, displayName: `Name of ${principal}` }
      const initiator = { principal: who, correlationId: correlation }
      await tx.record(
        toEvent({ at, initiator, action, target: targetOf(target), status: 'Succeeded' }),
      )
    }
  })
  while (store.dialect === 'sqlite' && (await summarizeBlock(store.sql)));
}

async function pages(store: Store, asked: ActivityQuery, limit: number) {
  const all: StoredActivity[] = []
  let cursor: string | undefined
  do {
    const page = await readActivity(store.sql, asked, { cursor, limit })
    assert.ok(page.items.length <= limit)
    all.push(...page.items)
    cursor = page.next
  } while (cursor !== undefined)
  return all
}

function asQuestion({ limit: _, from, until, ...terms }: ValueOf<typeof question>) {
  const given = Object.entries(terms).filter(([, value]) => value !== undefined)
  // The names are those of `Terms`.
  const equal = Object.fromEntries(given) as Terms
  return {
    equal,
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  }
}

async function check(store: Store, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 0, maxLength: blockRows * 3, size: 'max' }),
      fc.array(question, { minLength: 4, maxLength: 8 }),
      fc.nat(200),
      async (records, questions, old) => {
        await fill(store, records)
        const everything = await pages(store, { equal: {} }, 1000)
        assert.equal(everything.length, records.length)
        for (const one of questions) {
          const asked = asQuestion(one)
          const found = await pages(store, asked, one.limit)
          const expected = everything.filter((activity) => matchesQuery(asked, activity))
          assert.deepEqual(
            found.map(({ number }) => number),
            expected.map(({ number }) => number),
          )
        }
        while ((await sweepActivity(store.sql, old, 200)) > 0);
        const left = await pages(store, { equal: {} }, 1000)
        assert.ok(left.length >= everything.filter(({ at }) => at >= old).length)
        assert.deepEqual(
          left.map(({ number }) => number),
          everything.flatMap(({ number, at }) => (at >= old || has(left, number) ? [number] : [])),
        )
      },
    ),
    { numRuns: runs },
  )
}

function has(left: readonly StoredActivity[], number: number): boolean {
  return left.some((one) => one.number === number)
}

test('a late record among old ones is read after a sweep', async () => {
  await using store = await openSqlite({ path: ':memory:', ...contractOptions })
  const target = targets[0] ?? ''
  const one = { at: 1, target, action: actions[0] ?? '', principal: 'p' as const, correlation: '1' }
  const records = Array.from({ length: blockRows * 2 }, (_, at) =>
    at === 5 ? { ...one, at: 9 } : one,
  )
  await fill(store, [...records, ...Array.from({ length: blockRows }, () => ({ ...one, at: 9 }))])
  while ((await sweepActivity(store.sql, 5, 200)) > 0);
  assert.equal((await pages(store, { equal: {} }, 1000)).length, blockRows + 1)
})

test('a page of long records is short, and others have their turn while it is read', async () => {
  await using store = await openSqlite({ path: ':memory:', ...contractOptions })
  const initiator = { principal: { id: 'p' }, correlationId: 'c' }
  const facts = { note: 'x'.repeat(8_000) }
  const target = targetOf('/')
  const count = 500
  await store.sql.transact(async (tx) => {
    for (let at = 0; at < count; at++) {
      const action = actions[at % 2] ?? ''
      await tx.record(toEvent({ at, initiator, action, target, status: 'Succeeded', facts }))
    }
  })
  const all = { cursor: undefined, limit: 1000 }
  const page = await readActivity(store.sql, { equal: {} }, all)
  assert.ok(page.items.length > 100 && page.items.length < 130, `${page.items.length} records`)
  assert.notEqual(page.next, undefined)
  const { turns, result: none } = await turnsOf(() =>
    readActivity(store.sql, { equal: {}, matches: () => false }, all),
  )
  assert.deepEqual(none, { items: [] })
  assert.ok(turns >= (count * 8_000) / (256 * 1024), `${turns} turns`)
  assert.equal((await pages(store, { equal: {} }, 1000)).length, count)
})

const runs = process.env['ARMATURE_TEST_LONG'] === undefined ? 3 : 200

test('pages joined are the answer, on SQLite', async () => {
  await using store = await openSqlite({ path: ':memory:', ...contractOptions })
  await check(store, runs)
})

test('pages joined are the answer, on PostgreSQL', async (t: TestContext) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  await using store = await openPostgres({ url, poolSize: 2, clock: Date, ...contractOptions })
  await check(store, Math.ceil(runs / 2))
})
