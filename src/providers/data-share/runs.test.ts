/** Who may run synchronizations: resource groups share the places, whatever their sources do. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CopyFault } from '#engines/copy/engine.ts'
import { openRuns } from './domain/store/runs.ts'
import { sharingStore, startSharing } from './testing/start.ts'

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const keyOf = (group: string, name: number) =>
  `/subscriptions/s/resourcegroups/${group}/providers/datashare/accounts/a/sharesubscriptions/${name}`

test('a resource group has its number of runs at a time, and those of others pass it', async () => {
  await using store = await sharingStore()
  let now = 1_000_000
  const runs = openRuns(store.sql, { now: () => now++ })
  for (const [number, group] of ['one', 'one', 'one', 'one', 'ones', 'two'].entries()) {
    const subscriptionKey = keyOf(group, number)
    await runs.begin({ id: id(number), subscriptionKey, shareKey: '/s', mode: 'FullSync' })
  }
  const first = await runs.claim('owner', 6, 2)
  assert.deepEqual(
    first.map((run) => run.id),
    [0, 1, 4, 5].map(id),
  )
  assert.deepEqual(await runs.claim('owner', 2, 2), [])
  const [done] = first
  assert.ok(done !== undefined)
  await runs.end(done, 'Succeeded', null)
  assert.deepEqual(
    (await runs.claim('owner', 2, 2)).map((run) => run.id),
    [id(2)],
  )
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
