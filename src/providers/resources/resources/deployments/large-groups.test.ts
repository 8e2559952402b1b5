/** What-ifs and deployments in a group with thousands of resources that no template makes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { group, type Started, startDeployments, templateFor } from '../../testing/start.ts'

const count = 5_100

/** A vault, and as many copies of it. */
async function fill(t: Started): Promise<void> {
  const vault = `${group}/providers/Vendor.Secrets/vaults/v0`
  await t.call('PUT', vault, { location: 'local', properties: {} }, { version: '2026-01-01' })
  const first = await t.store.get(vault.toLowerCase())
  assert.ok(first !== undefined)
  await t.store.transact(async (tx) => {
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
}

test('a complete deployment deletes a number of resources, and says that there are more', async () => {
  await using t = await startDeployments()
  await fill(t)
  const path = `${group}/providers/Vendor.Resources/deployments/d`
  const deployed = async () => {
    const properties = { mode: 'Complete', template: templateFor([]) }
    await t.call('PUT', path, { properties })
    await t.settle()
    return JSON.parse(JSON.stringify((await t.call('GET', path)).body)).properties
  }
  const left = () => t.store.count({ under: group.toLowerCase(), tracked: true, limit: count })
  const kept = `${group}/providers/Vendor.Secrets/vaults/v1`
  const lock = `${kept}/providers/Vendor.Authorization/locks/l`
  const atLock = { version: '2020-05-01' }
  await t.call('PUT', lock, { properties: { level: 'CanNotDelete' } }, atLock)
  const first = await deployed()
  assert.equal(first.provisioningState, 'Failed')
  assert.equal(first.error.code, 'DeploymentDeletesTooMany')
  const details = first.error.details as readonly Readonly<Record<string, string>>[]
  assert.deepEqual(
    details.map(({ code, target }) => [code, target]),
    [['ScopeLocked', kept]],
  )
  await t.call('DELETE', lock, undefined, atLock)
  const rest = await left()
  assert.ok(rest > 0 && rest < 200, `${rest} left`)
  const page = await t.call('GET', `${path}/operations?$top=10`)
  const { value } = JSON.parse(JSON.stringify(page.body))
  assert.equal(value.length, 10)
  const one = await t.call('GET', `${path}/operations/${value[9].operationId}`)
  assert.deepEqual(JSON.parse(JSON.stringify(one.body)), value[9])
  assert.equal((await deployed()).provisioningState, 'Succeeded')
  assert.ok((await left()) < rest)
})

test('a what-if looks at a number of other resources, and says that there are more', async () => {
  await using t = await startDeployments()
  await fill(t)
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
