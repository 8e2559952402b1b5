/** What one caller stores must not stop the server when somebody lists it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResourceGroup } from './access.ts'
import { startInstallation } from './installation.ts'

const version = 'api-version=2023-01-31'

test('a location is a word, not a place to keep megabytes', async () => {
  await using on = await startInstallation()
  const group = `/subscriptions/${on.subscriptionId}/resourceGroups/fat`
  await createResourceGroup(on, group)
  const path = `${group}/providers/Vendor.ManagedIdentity/userAssignedIdentities/fat?${version}`
  const made = await on.request('PUT', path, { body: { location: 'x'.repeat(4_000_000) } })
  assert.equal(made.status, 400, made.text.slice(0, 200))
  for (const location of ['a\r\nb', '\u001b[2J', 'a\u202eb']) {
    const shown = await on.request('PUT', path, { body: { location } })
    assert.equal(shown.status, 400, shown.text.slice(0, 200))
  }
})

test('a page of a list has a budget of bytes, and goes on by its next link', async () => {
  await using on = await startInstallation()
  const group = `/subscriptions/${on.subscriptionId}/resourceGroups/fat`
  await createResourceGroup(on, group)
  // Any shown text without a bound of its own would do; here the command of a container.
  const profiles = `${group}/providers/Vendor.ContainerInstance/containerGroupProfiles`
  const command = Array.from({ length: 4 }, () => 'x'.repeat(120_000))
  const resources = { requests: { cpu: 1, memoryInGB: 1 } }
  const containers = [{ name: 'one', properties: { image: 'any', command, resources } }]
  const body = { location: 'local', properties: { osType: 'Linux', containers } }
  for (let at = 10; at < 50; at++) {
    const made = await on.request('PUT', `${profiles}/p${at}?api-version=2025-09-01`, { body })
    assert.equal(made.status, 201, made.text.slice(0, 200))
  }
  const names: string[] = []
  for (let next: string | undefined = `${profiles}?api-version=2025-09-01&$top=1000`; next; ) {
    const page = await on.request('GET', next)
    assert.equal(page.status, 200)
    assert.ok(page.text.length < 16_000_000, `${page.text.length} bytes on one page`)
    const { value, nextLink } = JSON.parse(page.text)
    for (const { name } of value) names.push(name)
    next = nextLink?.replace(on.url, '')
  }
  const all = Array.from({ length: 40 }, (_, at) => `p${at + 10}`)
  assert.deepEqual(names, all)

  // A what-if reports all resources of the group, and shows as many as its answer may contain.
  const deployment = `${group}/providers/Vendor.Resources/deployments/none/whatIf`
  const template = { $schema: 'deploymentTemplate.json#', contentVersion: '1.0.0.0', resources: [] }
  const answer = await on.request('POST', `${deployment}?api-version=2025-03-01`, {
    body: { properties: { mode: 'Incremental', template } },
  })
  assert.equal(answer.status, 200)
  assert.ok(answer.text.length < 6_000_000, `${answer.text.length} bytes in one answer`)
  const { changes } = JSON.parse(answer.text).properties
  assert.equal(changes.length, all.length)
  const [first, last] = [changes.at(0), changes.at(-1)]
  assert.equal(first.before.properties.containers[0].properties.command.length, 4)
  assert.deepEqual(Object.keys(last), ['resourceId', 'changeType', 'unsupportedReason'])
  assert.equal(last.changeType, 'Ignore')
})

test('a secret volume has a bounded number of keys: each is sealed by itself', async () => {
  await using on = await startInstallation()
  const group = `/subscriptions/${on.subscriptionId}/resourceGroups/fat`
  await createResourceGroup(on, group)
  const secret = Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`k${at}`, 'QUFB']))
  const properties = {
    osType: 'Linux',
    containers: [
      {
        name: 'one',
        properties: { image: 'any', resources: { requests: { cpu: 1, memoryInGB: 1 } } },
      },
    ],
    volumes: [{ name: 'many', secret }],
  }
  const profile = `${group}/providers/Vendor.ContainerInstance/containerGroupProfiles/many`
  const body = { location: 'local', properties }
  const made = await on.request('PUT', `${profile}?api-version=2025-09-01`, { body })
  assert.equal(made.status, 400, made.text.slice(0, 200))
})
