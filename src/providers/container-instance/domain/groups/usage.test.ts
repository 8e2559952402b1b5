/** What the meter is told about a group's life: every run once, with its beginning, its end and its resources. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runKeyOf, type UsageRun } from '#kernel/usage.ts'
import { memoryStore } from '#plane/testing/start.ts'
import { base, body as groupOf, startContainers, web } from '../../testing/start.ts'

const body = {
  location: 'here',
  properties: {
    osType: 'Linux',
    containers: [
      {
        name: 'one',
        properties: {
          image: 'registry.example/web:1',
          resources: { requests: { cpu: 0.5, memoryInGB: 2 } },
        },
      },
    ],
  },
}

/** A meter that keeps what it is told, as the real one does. */
function heardRuns() {
  const told = new Map<string, UsageRun>()
  const meter = {
    async note(runs: readonly UsageRun[]) {
      for (const run of runs) {
        const before = told.get(runKeyOf(run))
        const endedAt = before?.endedAt ?? run.endedAt
        told.set(runKeyOf(run), { ...run, ...(endedAt === undefined ? {} : { endedAt }) })
      }
    },
  }
  return { told, meter }
}

test('a group that is made, stopped, started and deleted', async () => {
  const { told, meter } = heardRuns()
  await using started = await startContainers({ meter })
  const path = `${base}/containerGroups/web`
  const isReady = (group: { readonly properties: { readonly provisioningState: string } }) =>
    group.properties.provisioningState === 'Succeeded'
  await started.call('PUT', path, body)
  await started.until('web', (group) => group.properties.instanceView.state === 'Running')
  assert.equal(told.size, 1)
  const [first] = told.values()
  assert.deepEqual(first?.held, { 'containerGroups/cpu': 0.5, 'containerGroups/memory': 2 })
  assert.equal(first?.endedAt, undefined)
  assert.match(first?.resourceId ?? '', /containerGroups\/web$/)
  await started.call('POST', `${path}/stop`)
  await started.until(
    'web',
    (group) => isReady(group) && group.properties.instanceView.state === 'Stopped',
  )
  assert.ok([...told.values()].every(({ endedAt }) => endedAt !== undefined))
  await started.call('POST', `${path}/start`)
  await started.until(
    'web',
    (group) => isReady(group) && group.properties.instanceView.state === 'Running',
  )
  assert.equal(told.size, 2)
  await started.call('DELETE', path)
  await started.settle()
  assert.equal(told.size, 2)
  for (const { startedAt, endedAt } of told.values()) assert.ok((endedAt ?? 0) >= startedAt)
})

test('runs that began and ended while nobody looked are reported as well, once each, also across restarts', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-usage-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await using store = await memoryStore()
  const { told, meter } = heardRuns()
  const begun = Date.UTC(2026, 10, 1)
  let now = begun
  const movedClock = {
    now: () => now,
    advance: (seconds: number) => {
      now += seconds * 1000
    },
  }
  const start = () => startContainers({ meter, store, folder, movedClock })
  const runs = () =>
    [...told.values()]
      .sort((a, b) => a.startedAt - b.startedAt)
      .map(({ startedAt, endedAt }) => [
        (startedAt - begun) / 1000,
        endedAt === undefined ? undefined : (endedAt - begun) / 1000,
      ])
  const first = await start()
  // Ends after five seconds, and is started again after one, two, four.
  await first.call(
    'PUT',
    `${base}/containerGroups/web`,
    groupOf([web('exit:1@5s')], { restartPolicy: 'Always' }),
  )
  await first.until('web', ({ properties }) => properties.instanceView.state === 'Running')
  assert.deepEqual(runs(), [[0, undefined]])
  await first.kill()
  movedClock.advance(15)
  const second = await start()
  await second.until(
    'web',
    ({ properties }) => properties.containers[0]?.properties.instanceView?.restartCount === 2,
  )
  const seen = [
    // The engine knows one run before the current one: it ended at the latest when the next began.
    [0, 6],
    [6, 11],
    [13, undefined],
  ]
  assert.deepEqual(runs(), seen)
  await second.kill()
  const third = await start()
  third.plane.reconciler.wake()
  await third.settle()
  assert.deepEqual(runs(), seen)
  movedClock.advance(3)
  await third.call('POST', `${base}/containerGroups/web/stop`)
  await third.until('web', ({ properties }) => properties.instanceView.state === 'Stopped')
  assert.deepEqual(runs(), [
    [0, 6],
    [6, 11],
    [13, 18],
  ])
  await third.kill()
})
