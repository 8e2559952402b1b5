/** What the sweep of the audit trail removes, and when it removes nothing: a clock that is ahead must not empty the trail. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog, type Timers } from '#kernel/ports.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { until } from '../../tests/until.ts'
import { targetOf, toEvent } from './record.ts'
import { startActivitySweep } from './sweep.ts'

const day = 86_400_000
const begin = Date.parse('2026-11-30T00:00:00Z')

const openStore = (): Promise<Store> =>
  openSqlite({
    path: ':memory:',
    migrations: [],
    words: { namespace: 'Vendor', brand: 'Vendor' },
    transactionRetriesMax: 8,
  })

async function record(store: Store, at: number): Promise<void> {
  const initiator = { principal: { id: 'a' }, correlationId: 'c' }
  const event = { at, initiator, action: 'x', target: targetOf('/'), status: 'Succeeded' } as const
  await store.transact((tx) => tx.record(toEvent(event)))
}

async function ages(store: Store): Promise<readonly number[]> {
  const rows = await store.sql.all('select at from events order by number')
  return rows.map(({ at }) => (begin - Number(at)) / day)
}

/** A sweep whose rounds the test begins. */
function open(store: Store, at = begin) {
  const clock = { at, now: () => clock.at }
  let next: (() => unknown) | undefined
  const timers: Timers = {
    after(_milliseconds, callback) {
      next = callback
      return { cancel() {} }
    },
  }
  const sweep = startActivitySweep({ sql: store.sql, clock, timers, log: silentLog, keptDays: 90 })
  /** Resolves when the round has ended. */
  async function round(): Promise<void> {
    const begun = await until(() => next)
    next = undefined
    begun()
    await until(() => next)
  }
  return { clock, round, [Symbol.asyncDispose]: () => sweep[Symbol.asyncDispose]() }
}

test('records go when they are older than they are kept', async () => {
  await using store = await openStore()
  for (const age of [100, 91, 89, 1]) await record(store, begin - age * day)
  await using sweep = open(store)
  await sweep.round()
  assert.deepEqual(await ages(store), [89, 1])
  sweep.clock.at += 2 * day
  await sweep.round()
  assert.deepEqual(await ages(store), [1])
})

for (const name of ['at its start', 'while it runs'] as const) {
  test(`a clock that is far ahead ${name} removes nothing for a day`, async () => {
    await using store = await openStore()
    for (const age of [100, 50, 1]) await record(store, begin - age * day)
    const isRunning = name === 'while it runs'
    await using sweep = isRunning ? open(store) : undefined
    await sweep?.round()
    const left = isRunning ? [50, 1] : [100, 50, 1]
    await using later = sweep ?? open(store, begin + 366 * day)
    later.clock.at = begin + 366 * day
    for (let count = 0; count < 3; count++) {
      await later.round()
      assert.deepEqual(await ages(store), left)
      later.clock.at += day / 4
    }
    // It is set right.
    later.clock.at = begin
    await later.round()
    assert.deepEqual(await ages(store), [50, 1])
    // It was right: what is old goes a day later.
    later.clock.at = begin + 366 * day
    await later.round()
    assert.deepEqual(await ages(store), [50, 1])
    later.clock.at += day + 1
    await later.round()
    assert.deepEqual(await ages(store), [])
  })
}
