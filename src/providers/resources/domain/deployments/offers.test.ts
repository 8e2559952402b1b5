/** `providers()` in a template says what is really installed, so that old templates choose versions that exist. */

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
