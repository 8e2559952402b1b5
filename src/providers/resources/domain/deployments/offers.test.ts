/**
 * `providers()` in a template says what is really installed, so that old templates choose versions that exist;
 * `pickZones()` what a table says of types and locations.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { group, startDeployments, templateFor } from '../../testing/start.ts'

const path = `${group}/providers/Vendor.Resources/deployments/offers`

function body(version: string): object {
  const vault = { type: 'Vendor.Secrets/vaults', location: 'local', name: 'v' }
  const resource = { ...vault, apiVersion: `[${version}]` }
  const outputs = {
    namespace: { type: 'string', value: "[providers('vendor.secrets').namespace]" },
  }
  return { properties: { mode: 'Incremental', template: templateFor([resource], { outputs }) } }
}

test('a resource in the newest version that its provider offers', async () => {
  await using started = await startDeployments()
  await started.call('PUT', path, body("providers('Vendor.Secrets', 'Vaults').apiVersions[0]"))
  await started.settle()
  const made = JSON.parse(JSON.stringify((await started.call('GET', path)).body))
  assert.equal(made.properties.provisioningState, 'Succeeded', JSON.stringify(made))
  assert.equal(made.properties.outputs.namespace.value, 'Vendor.Secrets')
})

test('a provider or a type that is not there is a problem of the template', async () => {
  await using started = await startDeployments()
  for (const [version, wanted] of [
    ["providers('Vendor.None', 'x').apiVersions[0]", /no provider 'Vendor\.None'/],
    ["providers('Vendor.Secrets', 'none').apiVersions[0]", /no type 'none'/],
  ] as const) {
    await assert.rejects(started.call('PUT', path, body(version)), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.code, 'InvalidTemplate')
      assert.match(error.message, wanted)
      return true
    })
  }
})

test('zones are picked of the table, in a nested deployment as in the one above it', async () => {
  await using started = await startDeployments()
  const outputs = {
    one: { type: 'array', value: "[pickZones('Vendor.Compute', 'disks', 'West Europe')]" },
    two: { type: 'array', value: "[pickZones('Vendor.Compute', 'disks', 'eastus2', 2, 1)]" },
    none: { type: 'array', value: "[pickZones('Vendor.Compute', 'disks', 'local')]" },
  }
  const inner = {
    type: 'Vendor.Resources/deployments',
    apiVersion: '2025-03-01',
    name: 'inner',
    properties: { mode: 'Incremental', template: templateFor([], { outputs }) },
  }
  const above = { ...outputs, inner: { type: 'object', value: "[reference('inner').outputs]" } }
  const template = templateFor([inner], { outputs: above })
  await started.call('PUT', path, { properties: { mode: 'Incremental', template } })
  await started.settle()
  const made = JSON.parse(JSON.stringify((await started.call('GET', path)).body))
  assert.equal(made.properties.provisioningState, 'Succeeded', JSON.stringify(made))
  for (const shown of [made.properties.outputs, made.properties.outputs.inner.value]) {
    const values = [shown.one, shown.two, shown.none].map(({ value }) => value)
    assert.deepEqual(values, [['1'], ['2', '3'], []])
  }
})
