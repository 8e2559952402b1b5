/** Who may run synchronizations: resource groups share the places, whatever their sources do. */

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { CopyFault } from '#engines/copy/engine.ts'
import { realClock } from '#plane/testing/provider-context.ts'
import type { Store } from '#stores/store.ts'
import { findPostgres, howToGetPostgres, startPostgres } from '#stores/testing/postgres-server.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { openGrants } from './domain/store/grants.ts'
import { openRuns } from './domain/store/runs.ts'
import { sharingStore, startSharing } from './testing/start.ts'
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
  const first = await runs.claim('owner', 6, { ofGroupMax: 2, sharedMax: 6 })
  assert.deepEqual(
    first.map((run) => run.id),
    [0, 1, 4, 5].map(id),
  )
  assert.deepEqual(await runs.claim('owner', 2, { ofGroupMax: 2, sharedMax: 6 }), [])
  const [done] = first
  assert.ok(done !== undefined)
  await runs.end(done, 'Succeeded', null)
  assert.deepEqual(
    (await runs.claim('owner', 2, { ofGroupMax: 2, sharedMax: 6 })).map((run) => run.id),
    [id(2)],
  )
})

test('the last places are for resource groups without a run', async () => {
  await using store = await sharingStore()
  let now = 1_000_000
  const runs = openRuns(store.sql, { now: () => now++ })
  for (const [number, group] of ['a', 'b', 'c', 'a', 'b', 'c', 'd', 'd'].entries()) {
    const subscriptionKey = keyOf(group, number)
    await grantTo(store, id(number), subscriptionKey)
    await runs.begin({ id: id(number), subscriptionKey, shareKey: '/s', mode: 'FullSync' })
  }
  const claimed = await runs.claim('owner', 8, { ofGroupMax: 2, sharedMax: 4 })
  assert.deepEqual(
    claimed.map((run) => run.id),
    [0, 1, 2, 3, 6].map(id),
  )
})

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
