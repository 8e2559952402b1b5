/** Triggers that are due: whose turn it is, how many one share subscription has, and what becomes of them when the store is away. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Timers } from '#kernel/ports.ts'
import { mortalStore } from '#plane/testing/mortal-store.ts'
import { realTimers } from '#plane/testing/start.ts'
import { type SqlTx, type Store, StoreUnavailable } from '#stores/store.ts'
import {
  findPostgres,
  howToGetPostgres,
  type PostgresServer,
  startPostgres,
} from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { until } from '../../../tests/until.ts'
import { dueTriggers, readTrigger, writeTrigger } from './domain/trigger-store.ts'
import { consumer, share, sharingStore, startSharing, taken } from './testing/start.ts'
import { openStoreAt } from './testing/stores.ts'

const hour = 3_600_000

let server: Promise<PostgresServer> | undefined
after(async () => (await server)?.[Symbol.asyncDispose]())

/** A trigger that has been due since `anchor`. */
async function dueSince({ sql }: Store, key: string, anchor: number): Promise<void> {
  const subscriptionKey = key.replace(/\/triggers\/.*/, '')
  await writeTrigger(sql, {
    key,
    subscriptionKey,
    mode: 'FullSync',
    everyMilliseconds: hour,
    anchor,
    now: anchor - 1,
    generation: 1,
  })
}

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`triggers of others do not wait behind the many of one, on ${kind}`, async (t) => {
    if (kind === 'postgres' && !requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres))
      return
    if (kind === 'postgres') server ??= startPostgres({ fsync: false })
    const url = await (await server)?.createDatabase()
    await using store =
      url === undefined ? await sharingStore() : await openStoreAt({ kind: 'postgres', url })
    const keyOf = (subscription: string, group: string, trigger: number) =>
      `/subscriptions/${subscription}/resourcegroups/${group}/providers/datashare/accounts/a/sharesubscriptions/s/triggers/${trigger}`
    for (let at = 1; at <= 9; at++) await dueSince(store, keyOf('one', 'many', at), at)
    await dueSince(store, keyOf('one', 'few', 0), 20)
    await dueSince(store, keyOf('two', 'many', 0), 30)
    await dueSince(store, keyOf('two', 'later', 0), 101)
    const due = await dueTriggers(store.sql, 100, 4)
    assert.deepEqual(
      due.map((one) => one.nextAt),
      [1, 30, 20, 2],
    )
    assert.equal((await dueTriggers(store.sql, 100, 50)).length, 11)
  })
}

/** Timers whose longer waits never end; `waits` has them. */
function impatient(): { readonly timers: Timers; readonly waits: number[] } {
  const waits: number[] = []
  return {
    waits,
    timers: {
      after(milliseconds, callback) {
        if (milliseconds === 0) return realTimers.after(0, callback)
        waits.push(milliseconds)
        return { cancel() {} }
      },
    },
  }
}

test('the next look comes at once as long as triggers are due', async () => {
  await using store = await sharingStore()
  for (let at = 0; at < 120; at++)
    await dueSince(store, `${taken.toLowerCase()}/triggers/${at}`, Date.now() - 1000)
  const { timers, waits } = impatient()
  await using _ = await startSharing({ store, timers })
  await until(() => waits.length > 0)
  assert.equal((await dueTriggers(store.sql, Date.now(), 200)).length, 0)
})

test('a trigger whose run the store could not begin stays due', async () => {
  let now = Date.parse('2026-11-21T10:30:00Z')
  await using inner = await sharingStore()
  let refusals = 0
  let isAway = false
  const { sql } = inner
  const guarded = (tx: SqlTx): SqlTx => ({
    ...tx,
    all: (text, ...values) => tx.all(text, ...values),
    async run(text, ...values) {
      if (!isAway || !text.includes('into share_runs')) return tx.run(text, ...values)
      refusals++
      throw new StoreUnavailable('away', 'later')
    },
  })
  const store: Store = {
    ...mortalStore(inner).store,
    sql: {
      dialect: sql.dialect,
      all: (text, ...values) => sql.all(text, ...values),
      scan: (text, ...values) => sql.scan(text, ...values),
      snapshot: (work) => sql.snapshot(work),
      transact: (work, mode) => sql.transact((tx) => work(guarded(tx)), mode),
    },
  }
  await using started = await startSharing({ store, clock: { now: () => now } })
  await started.prepare()
  started.write('giver', 'data/a.txt', 'one')
  const dataSetId = await started.share('f', 'Container', { containerName: 'data' })
  await started.map('m', 'Container', { dataSetId, containerName: 'got' })
  const schedule = { recurrenceInterval: 'Hour', synchronizationTime: '2026-11-21T00:00:00Z' }
  const setting = { kind: 'ScheduleBased', properties: schedule }
  await started.call('PUT', `${share}/synchronizationSettings/hourly`, setting)
  await started.settle()
  isAway = true
  await dueSince(inner, `${taken.toLowerCase()}/triggers/t`, now)
  now += 1
  await until(() => refusals > 0)
  isAway = false
  const runs = async (): Promise<{ synchronizationId: string }[]> =>
    (await started.call('POST', `${taken}/listSynchronizations`, undefined, consumer)).body.value
  const run = await until(async () => (await runs())[0])
  assert.equal((await started.ended(run.synchronizationId)).status, 'Succeeded')
  const trigger = await readTrigger(sql, `${taken.toLowerCase()}/triggers/t`)
  assert.equal(trigger?.nextAt, now - 1 + hour)
})

test('a share subscription has five triggers at most', async () => {
  await using started = await startSharing()
  await started.prepare()
  const properties = { recurrenceInterval: 'Hour', synchronizationTime: '2026-11-21T00:15:00Z' }
  const put = (name: number) =>
    started.call(
      'PUT',
      `${taken}/triggers/t${name}`,
      { kind: 'ScheduleBased', properties },
      consumer,
    )
  for (let name = 1; name <= 5; name++) assert.equal((await put(name)).status, 201)
  await assert.rejects(put(6), { code: 'TriggersLimitReached' })
  await started.settle()
  assert.equal((await put(5)).status, 200)
})
