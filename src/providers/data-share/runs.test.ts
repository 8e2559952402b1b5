/** Who may run synchronizations: resource groups share the places, whatever their sources do. */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { CopyCancelled, type CopyEngine, CopyFault } from '#engines/copy/engine.ts'
import type { Timers } from '#kernel/ports.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import { realTimers } from '#plane/testing/start.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { until } from '../../../tests/until.ts'
import { openGrants } from './domain/store/grants.ts'
import { openRuns } from './domain/store/runs.ts'
import { cutEngine } from './testing/cut.ts'
import { consumer, type Sharing, sharingStore, startSharing, taken } from './testing/start.ts'
import { openStoreAt } from './testing/stores.ts'

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const keyOf = (group: string, name: number) =>
  `/subscriptions/s/resourcegroups/${group}/providers/datashare/accounts/a/sharesubscriptions/${name}`

function grantTo(store: Store, grantId: string, subscriptionKey: string): Promise<number> {
  return store.sql.transact((tx) =>
    tx.run(
      `insert into share_grants (id, subscription_key, share_key, invitation_id, status, shared_at, expires_at, card)
        values (?, ?, '/s', 'i', 'Active', 0, null, '{}')`,
      grantId,
      subscriptionKey,
    ),
  )
}

test('a resource group has its number of runs at a time, and those of others pass it', async () => {
  await using store = await sharingStore()
  let now = 1_000_000
  const runs = openRuns(store.sql, { now: () => now++ })
  for (const [number, group] of ['one', 'one', 'one', 'one', 'ones', 'two'].entries()) {
    const subscriptionKey = keyOf(group, number)
    await grantTo(store, id(number), subscriptionKey)
    await runs.begin({ id: id(number), subscriptionKey, shareKey: '/s', mode: 'FullSync' })
  }
  const sizes = { ofGroupMax: 2, sharedMax: 6, ofGroupsMax: 6 }
  const first = await runs.claim('owner', 6, sizes)
  assert.deepEqual(
    first.map((run) => run.id),
    [0, 4, 5, 1].map(id),
    'groups without a run come first',
  )
  assert.deepEqual(await runs.claim('owner', 2, sizes), [])
  const [done] = first
  assert.ok(done !== undefined)
  await runs.end(done, 'Succeeded', null)
  assert.deepEqual(
    (await runs.claim('owner', 2, sizes)).map((run) => run.id),
    [id(2)],
  )
})

test('the last places are for resource groups without a run, and for subscriptions without one', async () => {
  await using store = await sharingStore()
  let now = 1_000_000
  const runs = openRuns(store.sql, { now: () => now++ })
  const groups = ['a', 'b', 'a', 'b', 'c', 'd', 'e', 'f', 'g']
  const begin = async (number: number, subscriptionKey: string): Promise<void> => {
    await grantTo(store, id(number), subscriptionKey)
    await runs.begin({ id: id(number), subscriptionKey, shareKey: '/s', mode: 'FullSync' })
  }
  for (const [number, group] of groups.entries()) await begin(number, keyOf(group, number))
  const sizes = { ofGroupMax: 2, sharedMax: 4, ofGroupsMax: 6 }
  const claimed = await runs.claim('owner', 8, sizes)
  assert.equal(claimed.length, 6)
  const others = ['/subscriptions/t', '/subscriptions/t', '/subscriptions/u']
  for (const [at, subscription] of others.entries()) {
    await begin(20 + at, keyOf(`g${at}`, at).replace('/subscriptions/s', subscription))
  }
  assert.deepEqual(
    (await runs.claim('owner', 2, sizes)).map((run) => run.id),
    [20, 22].map(id),
    'a subscription without a run passes all that wait',
  )
})

test('a run that gave up its place is behind those that wait, and is in the way of those alone', async () => {
  await using store = await sharingStore()
  let now = 1_000_000
  const runs = openRuns(store.sql, { now: () => now++ })
  for (const [number, group] of ['a', 'a', 'b'].entries()) {
    const subscriptionKey = keyOf(group, number)
    await grantTo(store, id(number), subscriptionKey)
    await runs.begin({ id: id(number), subscriptionKey, shareKey: '/s', mode: 'FullSync' })
  }
  const sizes = { ofGroupMax: 1, sharedMax: 1, ofGroupsMax: 1 }
  const [first] = await runs.claim('owner', 1, sizes)
  assert.ok(first !== undefined)
  assert.equal(await runs.isInTheWay('owner', first, sizes), true)
  assert.equal(await runs.giveUp(first), 1)
  const [second] = await runs.claim('owner', 1, sizes)
  assert.ok(second !== undefined)
  assert.notEqual(second.id, first.id)
  await runs.end(second, 'Succeeded', null)
  const [third] = await runs.claim('owner', 1, sizes)
  assert.ok(third !== undefined)
  await runs.end(third, 'Succeeded', null)
  const [again] = await runs.claim('owner', 1, sizes)
  assert.deepEqual([again?.id, again?.turnsLost], [first.id, 1])
  assert.ok(again !== undefined)
  assert.equal(await runs.isInTheWay('owner', again, sizes), false, 'nobody waits')
})

test('a source that sends nothing keeps its place until others want it, and fails in the end', async () => {
  let ahead = 0
  let attempts = 0
  const engine: CopyEngine = {
    open() {
      const ended = Promise.withResolvers<void>()
      return {
        async copy(_task, _journal, signal) {
          attempts++
          await ended.promise
          assert.ok(signal.aborted)
          throw new CopyCancelled()
        },
        async [Symbol.asyncDispose]() {
          ended.resolve()
        },
      }
    },
  }
  const clock = { now: () => Date.now() + ahead }
  await using started = await startSharing({ engine, clock })
  await started.prepare()
  started.write('giver', 'data/a.txt', 'one')
  const dataSetId = await started.share('all', 'Container', { containerName: 'data' })
  await started.map('all', 'Container', { dataSetId, containerName: 'got' })
  const runId = await started.synchronize()
  await until(() => attempts === 1)
  ahead += 20 * 60_000
  const runs = openRuns(started.store.sql, clock)
  await until(async () => ((await runs.find(runId))?.leaseUntil ?? 0) > clock.now())
  assert.equal(attempts, 1)
  // Five more of its subscription have places, and others of it wait.
  const beginOther = async (number: number): Promise<void> => {
    const subscriptionKey = `${taken.split('/', 3).join('/')}/resourcegroups/g${number}/x`
    await grantTo(started.store, id(number), subscriptionKey)
    await runs.begin({ id: id(number), subscriptionKey, shareKey: '/s', mode: 'FullSync' })
  }
  await started.store.sql.transact(async (tx) => {
    for (let number = 1; number <= 5; number++) {
      await tx.run(
        'insert into share_active (subscription_key, run_id) values (?, ?)',
        `${number}`,
        id(number),
      )
      await tx.run(
        `insert into share_runs (id, subscription_key, share_key, mode, status, message, started_at, ended_at,
            cancelled, planned, lease_owner, lease_until, fence)
          select ?, ?, share_key, mode, status, null, 0, null, 0, 1, lease_owner, ?, 0 from share_runs where id = ?`,
        id(number),
        `${taken.split('/', 3).join('/')}/resourcegroups/g${number}/x`,
        Number.MAX_SAFE_INTEGER,
        runId,
      )
    }
  })
  let others = 5
  const run = await until(async () => {
    await beginOther(++others)
    ahead += 10_000
    const found = await runs.find(runId)
    return found?.endedAt !== null && found
  })
  assert.equal(run.status, 'Failed')
  assert.match(run.message ?? '', /too slowly 3 times while other synchronizations waited/)
  const [detail] = await started.details(runId)
  assert.equal(detail.status, 'Failed')
})

/** Its target says nothing any more, from publishing on. */
function endlessTarget(): { readonly engine: CopyEngine; signal(): AbortSignal | undefined } {
  let publishing: AbortSignal | undefined
  const engine: CopyEngine = {
    open() {
      const ended = Promise.withResolvers<void>()
      return {
        async copy(_task, journal, signal) {
          await journal.publishing()
          publishing = signal
          await ended.promise
          assert.ok(signal.aborted)
          throw new CopyCancelled()
        },
        async [Symbol.asyncDispose]() {
          ended.resolve()
        },
      }
    },
  }
  return { engine, signal: () => publishing }
}

async function beginCopy(started: Sharing): Promise<string> {
  await started.prepare()
  started.write('giver', 'data/a.txt', 'one')
  const dataSetId = await started.share('all', 'Container', { containerName: 'data' })
  await started.map('all', 'Container', { dataSetId, containerName: 'got' })
  return started.synchronize()
}

test('a cancelled run whose target publishes for ever ends', async () => {
  let ahead = 0
  const { engine, signal } = endlessTarget()
  await using started = await startSharing({ engine, clock: { now: () => Date.now() + ahead } })
  const synchronizationId = await beginCopy(started)
  await until(() => signal() !== undefined)
  const cancelled = await started.call(
    'POST',
    `${taken}/cancelSynchronization`,
    { synchronizationId },
    consumer,
  )
  assert.equal(cancelled.status, 202)
  await until(() => signal()?.aborted === true)
  // Nobody else takes the run over while the clock is ahead of its lease.
  const later = 20 * 60_000
  await started.store.sql.transact((tx) =>
    tx.run('update share_runs set lease_until = lease_until + ?', later),
  )
  ahead += later
  assert.equal((await started.ended(synchronizationId)).status, 'Cancelled')
})

test('a slow run that is cancelled removes what it copied before its session is closed', async () => {
  let ahead = 0
  const events: string[] = []
  const removal = Promise.withResolvers<void>()
  const engine: CopyEngine = {
    open: () => ({
      async copy(_task, _journal, signal) {
        events.push('copies')
        await once(signal, 'abort')
        events.push('removes')
        await removal.promise
        events.push('removed')
        throw new CopyCancelled()
      },
      async [Symbol.asyncDispose]() {
        events.push('closed')
      },
    }),
  }
  await using started = await startSharing({ engine, clock: { now: () => Date.now() + ahead } })
  const synchronizationId = await beginCopy(started)
  await until(() => events.length === 1)
  const leaseUntil = async (): Promise<number> =>
    Number((await started.store.sql.all('select lease_until from share_runs'))[0]?.['lease_until'])
  const later = 20 * 60_000
  // Nobody else takes the run over while the clock is ahead of its lease.
  await started.store.sql.transact((tx) =>
    tx.run('update share_runs set lease_until = lease_until + ?', later),
  )
  ahead += later
  await started.store.sql.transact((tx) => tx.run('update share_runs set cancelled = 1'))
  await until(() => events.length === 2)
  const before = await leaseUntil()
  await until(async () => (await leaseUntil()) > before + 1000)
  removal.resolve()
  assert.equal((await started.ended(synchronizationId)).status, 'Cancelled')
  assert.deepEqual(events, ['copies', 'removes', 'removed', 'closed'])
})

test('a process ends while a target publishes for ever, and leaves the run to the next one', async () => {
  await using store = await sharingStore()
  const { engine, signal } = endlessTarget()
  let runId = ''
  {
    await using started = await startSharing({ engine, store })
    runId = await beginCopy(started)
    await until(() => signal() !== undefined)
  }
  const run = await openRuns(store.sql, realClock).find(runId)
  assert.equal(run?.endedAt, null)
})

test('a worker lets go once of a run that another one took', async () => {
  const { engine, signal } = endlessTarget()
  let releases = 0
  let looks = 0
  const timers: Timers = {
    after(milliseconds, callback) {
      if (milliseconds === 3000) releases++
      if (milliseconds === 500) looks++
      return realTimers.after(milliseconds, callback)
    },
  }
  await using started = await startSharing({ engine, timers })
  await beginCopy(started)
  await until(() => signal() !== undefined)
  const taking = "update share_runs set fence = fence + 1, lease_owner = 'other', lease_until = ?"
  await started.store.sql.transact((tx) => tx.run(taking, Number.MAX_SAFE_INTEGER))
  await until(() => signal()?.aborted === true)
  const before = looks
  // The session is closed after a while.
  await started[Symbol.asyncDispose]()
  assert.deepEqual([releases, looks], [1, before])
})

for (const [what, loses] of [
  ['goes on with what it staged', false],
  ['copies all again where that is gone', true],
] as const) {
  test(`a process ends in the middle of a full copy, and the next one ${what}`, async () => {
    await using store = await sharingStore()
    const root = mkdtempSync(join(tmpdir(), 'armature-share-'))
    const copying = Promise.withResolvers<void>()
    const engine = cutEngine(
      { target: 'folder', call: 'commit', when: 'after' },
      async (signal) => {
        copying.resolve()
        if (!signal.aborted) await once(signal, 'abort')
      },
    )
    let runId = ''
    {
      await using started = await startSharing({ engine, store, root })
      runId = await beginCopy(started)
      await copying.promise
    }
    const stages = join(root, 'taker', '.armature')
    assert.equal(readdirSync(stages).length, 1)
    if (loses) rmSync(stages, { recursive: true })
    await using started = await startSharing({ store, root })
    assert.equal((await started.ended(runId)).status, 'Succeeded')
    assert.equal(started.read('taker', 'got/a.txt'), 'one')
    rmSync(root, { recursive: true, force: true })
  })
}

test('what begins while it is revoked is refused or cancelled; a revocation stays, whatever else changes', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  await using store = await openStoreAt({ kind: 'postgres', url })
  const runs = openRuns(store.sql, realClock)
  const grants = openGrants(store.sql, realClock)
  const expiresAt = Date.now() + 3_600_000
  for (let round = 0; round < 20; round++) {
    const [grantId, runId, subscriptionKey] = [id(round), id(100 + round), keyOf('g', round)]
    await grantTo(store, grantId, subscriptionKey)
    const [begun] = await Promise.all([
      runs.begin({ id: runId, subscriptionKey, shareKey: '/s', mode: 'FullSync' }),
      grants.change(grantId, { status: 'Revoked' }),
      grants.change(grantId, { expiresAt }),
    ])
    const run = await runs.find(runId)
    if (begun === 'revoked') assert.equal(run, undefined)
    else assert.equal(run?.cancelled, true)
    const grant = await grants.grant(grantId)
    assert.deepEqual([grant?.status, grant?.expiresAt], ['Revoked', expiresAt])
  }
  // The one that begins waits for a revocation that is under way.
  const [grantId, subscriptionKey] = [id(99), keyOf('g', 99)]
  await grantTo(store, grantId, subscriptionKey)
  const outside = AsyncLocalStorage.snapshot()
  let begun: ReturnType<typeof runs.begin> | undefined
  await store.sql.transact(async (tx) => {
    await tx.run("update share_grants set status = 'Revoked' where id = ?", grantId)
    begun = outside(() =>
      runs.begin({ id: id(199), subscriptionKey, shareKey: '/s', mode: 'FullSync' }),
    )
    await setTimeout(50)
  })
  assert.equal(await begun, 'revoked')
})

test('a run that our own fault ends is failed, and not taken up for ever', async () => {
  let attempts = 0
  await using started = await startSharing({
    engine: {
      open: () => ({
        async copy() {
          attempts++
          throw new CopyFault('of ours')
        },
        async [Symbol.asyncDispose]() {},
      }),
    },
  })
  await started.prepare()
  started.write('giver', 'data/a.txt', 'one')
  const dataSetId = await started.share('all', 'Container', { containerName: 'data' })
  await started.map('all', 'Container', { dataSetId, containerName: 'got' })
  const run = await started.ended(await started.synchronize())
  assert.equal(run.status, 'Failed')
  assert.equal(attempts, 3)
})

test('numbers that a server made up, and a blob that a service lists twice, are kept; details can be read', async (t) => {
  if (!requireOrSkip(t, findPostgres() !== undefined, howToGetPostgres)) return
  await using server = await startPostgres({ fsync: false })
  const url = await server.createDatabase()
  const one = { key: 'a', etag: '1', size: 1, digest: 'd' }
  const engine: CopyEngine = {
    open: () => ({
      async copy(_task, journal) {
        await journal.commit({ done: [one, one], counted: { filesRead: 2 }, underway: {} })
        const counted = { rowsRead: Number.POSITIVE_INFINITY, rowsCopied: 2 ** 53 }
        await journal.published({ replaces: true, counted })
      },
      async [Symbol.asyncDispose]() {},
    }),
  }
  for (const address of [
    { kind: 'sqlite', path: ':memory:' },
    { kind: 'postgres', url },
  ] as const) {
    await using store = await openStoreAt(address)
    await using started = await startSharing({ engine, store })
    await started.prepare()
    const dataSetId = await started.share('all', 'Container', { containerName: 'data' })
    await started.map('all', 'Container', { dataSetId, containerName: 'got' })
    const runId = await started.synchronize()
    assert.equal((await started.ended(runId)).status, 'Succeeded')
    const [detail] = await started.details(runId)
    assert.deepEqual([detail.filesRead, detail.rowsRead, detail.rowsCopied], [2, 2 ** 50, 2 ** 50])
  }
})
