/** What the meter is told of a group’s life: every run once, with its beginning, its end and what it held. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UsageRun } from '#kernel/usage.ts'
import { base, startContainers } from '../testing/start.ts'

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

test('a group that is made, stopped, started and deleted', async () => {
  const told = new Map<string, UsageRun>()
  const meter = {
    async note(runs: readonly UsageRun[]) {
      for (const run of runs) {
        const before = told.get(run.key)
        const endedAt = before?.endedAt ?? run.endedAt
        told.set(run.key, { ...run, ...(endedAt === undefined ? {} : { endedAt }) })
      }
    },
  }
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
