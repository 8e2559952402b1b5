/**
 * What the queue of the audit trail keeps and counts: its limits, on a store that answers and on one that does not.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { writeExactIntegers } from '#kernel/exact-json.ts'
import { silentLog } from '#kernel/ports.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import { type Sql, type Store, StoreUnavailable } from '#stores/store.ts'
import { changesBetween } from './changes.ts'
import { openActivityQueue } from './queue.ts'
import type { ActivityRecord } from './record.ts'
import { targetOf } from './record.ts'
import { columns, toActivity } from './stored-activity.ts'

const openStore = (): Promise<Store> =>
  openSqlite({
    path: ':memory:',
    migrations: [],
    words: { namespace: 'Vendor', brand: 'Vendor' },
    transactionRetriesMax: 8,
  })

function signIn(name: string): Omit<ActivityRecord, 'at'> {
  return {
    initiator: { principal: { id: name, displayName: name }, correlationId: 'c' },
    action: 'Vendor.Directory/signIn',
    target: targetOf('/directory'),
    status: 'Failed',
  }
}

type QueueLimits = NonNullable<Parameters<typeof openActivityQueue>[0]['limits']>

/** Long enough that the queue never writes by itself: the tests decide when. */
const slow: QueueLimits = { delayMilliseconds: 3_600_000 }

function open(sql: Sql, limits: QueueLimits, now = () => 1) {
  return openActivityQueue({
    sql,
    clock: { now },
    log: silentLog,
    omittedAction: 'omitted',
    limits: { ...slow, ...limits },
  })
}

async function counts(store: Store) {
  const rows = await store.sql.all('select action, detail from events order by number')
  return {
    kept: rows.filter((row) => row['action'] !== 'omitted').length,
    omitted: rows
      .filter((row) => row['action'] === 'omitted')
      .map((row) => Number(/"records":"(\d+)"/.exec(String(row['detail']))?.[1])),
  }
}

test('one source has so many records a minute; others have their own; the rest is a count', async () => {
  await using store = await openStore()
  let now = 1
  await using queue = open(store.sql, { perSourceMax: 60 }, () => now)
  for (let at = 0; at < 1000; at++) queue.note(signIn('a'), { stranger: '192.0.2.1' })
  for (let at = 0; at < 10; at++) queue.note(signIn('b'), { stranger: '192.0.2.2' })
  for (let at = 0; at < 70; at++) queue.note(signIn('c'), { principal: 'c' })
  for (let at = 0; at < 70; at++) {
    queue.note(signIn('c'), { principal: 'd', perMinuteMax: 65 })
  }
  // Nothing of whoever may is left out.
  for (let at = 0; at < 100; at++) queue.note(signIn('c'))
  await queue.flush()
  assert.deepEqual(await counts(store), { kept: 60 + 10 + 60 + 65 + 100, omitted: [955] })
  now += 60_000
  for (let at = 0; at < 61; at++) queue.note(signIn('a'), { stranger: '192.0.2.1' })
  await queue.flush()
  assert.deepEqual(await counts(store), { kept: 355, omitted: [955, 1] })
})

test('a minute that began while the clock was ahead ends when it is set back', async () => {
  await using store = await openStore()
  const day = 24 * 3_600_000
  let now = day
  await using queue = open(store.sql, { perSourceMax: 2 }, () => now)
  for (let at = 0; at < 3; at++) queue.note(signIn('a'), { principal: 'a' })
  now = 1
  for (let at = 0; at < 3; at++) queue.note(signIn('a'), { principal: 'a' })
  await queue.flush()
  assert.deepEqual(await counts(store), { kept: 4, omitted: [2] })
})

test('sources are bounded: those beyond are counted, and those known go on', async () => {
  await using store = await openStore()
  await using queue = open(store.sql, { sourcesMax: 3 })
  for (let at = 0; at < 50; at++) queue.note(signIn('a'), { stranger: `2001:db8:${at}::` })
  queue.note(signIn('a'), { stranger: '2001:db8:0::' })
  await queue.flush()
  assert.deepEqual(await counts(store), { kept: 4, omitted: [47] })
})

test('where many strangers cause much together, each has its first few, and no more', async () => {
  await using store = await openStore()
  let now = 1
  await using queue = open(store.sql, { ofStrangersMax: 100 }, () => now)
  for (let source = 0; source < 20; source++) {
    for (let at = 0; at < 50; at++) queue.note(signIn('a'), { stranger: `192.0.2.${source}` })
  }
  // Strangers take nothing from principals.
  for (let at = 0; at < 50; at++) queue.note(signIn('a'), { principal: 'a' })
  await queue.flush()
  assert.deepEqual(await counts(store), { kept: 2 * 50 + 18 * 3 + 50, omitted: [18 * 47] })
  now += 60_000
  for (let at = 0; at < 50; at++) queue.note(signIn('a'), { stranger: '192.0.2.1' })
  await queue.flush()
  assert.deepEqual((await counts(store)).kept, 2 * 50 + 18 * 3 + 50 + 50)
})

test('while the store does not answer, what waits is bounded; nothing that waited is lost or recorded twice', async () => {
  await using store = await openStore()
  let isDown = true
  const sql: Sql = {
    dialect: store.dialect,
    all: (text, ...values) => store.sql.all(text, ...values),
    scan: (text, ...values) => store.sql.scan(text, ...values),
    snapshot: (work) => store.sql.snapshot(work),
    transact: (work) =>
      isDown ? Promise.reject(new StoreUnavailable('down', 'later')) : store.sql.transact(work),
  }
  await using queue = open(sql, { waitingMax: 100, batchMax: 30 })
  for (let at = 0; at < 500; at++) queue.note(signIn('a'))
  await queue.flush()
  assert.deepEqual(await counts(store), { kept: 0, omitted: [] })
  isDown = false
  await queue.flush()
  assert.deepEqual(await counts(store), { kept: 100, omitted: [400] })
  await queue.flush()
  assert.deepEqual(await counts(store), { kept: 100, omitted: [400] })
})

test('what comes while others are written is written next, whatever is left out meanwhile', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await using store = await openStore()
  const written = Promise.withResolvers<void>()
  let writes = 0
  const sql: Sql = {
    dialect: store.dialect,
    all: (text, ...values) => store.sql.all(text, ...values),
    scan: (text, ...values) => store.sql.scan(text, ...values),
    snapshot: (work) => store.sql.snapshot(work),
    async transact(work) {
      writes++
      await written.promise
      return store.sql.transact(work)
    },
  }
  await using queue = open(sql, { delayMilliseconds: 100, perSourceMax: 1 })
  queue.note(signIn('a'), { stranger: '192.0.2.1' })
  t.mock.timers.tick(100)
  assert.equal(writes, 1)
  for (let at = 0; at < 3; at++) queue.note(signIn('a'), { stranger: '192.0.2.1' })
  for (let at = 0; at < 2; at++) queue.note(signIn('b'))
  written.resolve()
  while ((await counts(store)).kept === 0) await setImmediate()
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  t.mock.timers.tick(100)
  assert.equal(writes, 2)
  await queue.flush()
  assert.equal((await counts(store)).kept, 3)
})

test('the end writes all that waits', async () => {
  await using store = await openStore()
  const queue = open(store.sql, { batchMax: 7 })
  for (let at = 0; at < 50; at++) queue.note(signIn('a'))
  await queue[Symbol.asyncDispose]()
  assert.deepEqual(await counts(store), { kept: 50, omitted: [] })
})

test('an integer of 64 bits that changed is read as it was written', async () => {
  writeExactIntegers()
  await using store = await openStore()
  await using queue = open(store.sql, {})
  const [before, after] = [{ size: 9007199254740993n }, { size: 9223372036854775807n }]
  queue.note({ ...signIn('a'), changes: changesBetween(before, after) })
  await queue.flush()
  const [row = {}] = await store.sql.all(`select ${columns} from events`)
  assert.deepEqual(toActivity(row).detail.changes, [
    { path: 'size', before: 9007199254740993n, after: 9223372036854775807n },
  ])
})
