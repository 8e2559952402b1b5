/** Every process has all deny assignments in memory, and a stack makes one for each of its thousands of resources. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTerminalState } from '#kernel/operation.ts'
import { until } from '../../../../../tests/until.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

const version = { version: '2024-03-01' }
const denialsMax = 20_000

test('a subscription has a number of deny assignments, and those that are there stay', async () => {
  await using t = await startDeployments()
  const stack = `${group}/providers/Vendor.Resources/deploymentStacks/s`
  const deployed = async (names: readonly string[], mode = 'denyDelete') => {
    const vaults = names.map((name) => ({
      type: 'Vendor.Secrets/vaults',
      apiVersion: '2026-01-01',
      name,
      location: 'local',
    }))
    const properties = {
      template: templateFor(vaults),
      actionOnUnmanage: { resources: 'detach' },
      denySettings: { mode },
    }
    await t.call('PUT', stack, { properties }, version)
    await until(async () => isTerminalState((await t.plane.reader.get(stack))?.state ?? ''))
    const { body } = await t.call('GET', stack, undefined, version)
    return JSON.parse(JSON.stringify(body)).properties
  }
  await deployed(['one'])
  const type = 'vendor.authorization/denyassignments'
  const [first] = await t.store.list({ under: group.toLowerCase(), type, limit: 1 })
  assert.ok(first !== undefined)
  await t.store.transact(async (tx) => {
    for (let at = 1; at < denialsMax; at++) {
      const named = (text: string): string => text.replaceAll('/vaults/one', `/vaults/v${at}`)
      const { key, id, document } = first
      await tx.insert({ ...first, key: named(key), id: named(id), document: named(document) })
    }
  })
  const full = await deployed(['one', 'two'])
  assert.equal(full.provisioningState, 'failed')
  assert.deepEqual(
    full.failedResources.map(({ error }: { error: { code: string } }) => error.code),
    ['DenyAssignmentQuotaExceeded'],
  )
  const changed = await deployed(['one'], 'denyWriteAndDelete')
  assert.equal(changed.provisioningState, 'succeeded', JSON.stringify(changed.error))
  assert.equal(changed.resources[0].denyStatus, 'denyWriteAndDelete')
})
