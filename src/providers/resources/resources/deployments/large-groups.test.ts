/** What-ifs in a group with thousands of resources that no template makes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '#plane/testing/start.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

test('a what-if looks at a number of other resources, and says that there are more', async () => {
  await using store = await memoryStore()
  await using t = await startDeployments({ store })
  const vault = `${group}/providers/Vendor.Secrets/vaults/v0`
  await t.call('PUT', vault, { location: 'local', properties: {} }, { version: '2026-01-01' })
  const first = await store.get(vault.toLowerCase())
  assert.ok(first !== undefined)
  const count = 5_100
  await store.transact(async (tx) => {
    for (let at = 1; at < count; at++) {
      const named = (text: string): string => text.replaceAll('/v0', `/v${at}`)
      const { key, id, document } = first
      await tx.insert({
        ...first,
        key: named(key),
        id: named(id),
        document: named(document),
        ...(first.uniqueKey === undefined ? {} : { uniqueKey: `${first.uniqueKey}${at}` }),
      })
    }
  })
  for (const [mode, changeType] of [
    ['Complete', 'Delete'],
    ['Incremental', 'Ignore'],
  ]) {
    const body = { properties: { mode, template: templateFor([]) } }
    const path = `${group}/providers/Vendor.Resources/deployments/d/whatIf`
    const answer = await t.call('POST', path, body)
    const { properties } = JSON.parse(JSON.stringify(answer.body))
    const changes = properties.changes as readonly Readonly<Record<string, string>>[]
    assert.equal(changes.length, 5_001)
    const last = changes.find((one) => one['resourceId'] === group)
    assert.equal(last?.['changeType'], 'Unsupported')
    assert.match(last?.['unsupportedReason'] ?? '', /more resources than the 5000 others/)
    const others = changes.filter((one) => one !== last)
    assert.ok(others.every((one) => one['changeType'] === changeType || 'unsupportedReason' in one))
    assert.ok(others.some((one) => one['changeType'] === changeType))
  }
})
