/** What a deployment's body may say beside its template: kept and shown, or refused by name; never dropped. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { group, startDeployments, subscription, templateFor } from '../../testing/start.ts'

const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
const at = (name: string, under = group): string =>
  `${under}/providers/Vendor.Resources/deployments/${name}`

// Answers are read as the clients see them.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
const json = ({ body }: { readonly body?: unknown }): any => JSON.parse(JSON.stringify(body))

function body(resources: readonly object[], properties: object = {}, outer: object = {}): object {
  const template = templateFor(resources)
  return { ...outer, properties: { mode: 'Incremental', template, ...properties } }
}

test('tags, the level of validation and the providers are part of the record', async () => {
  await using started = await startDeployments()
  const wrong = { ...vault, type: 'Vendor.Secrets/none', name: 'n', condition: false }
  const given = body([{ ...vault, name: 'v' }, wrong], { validationLevel: 'provider' })
  const tags = { team: 'blue', Team2: 'x' }
  await started.call('PUT', at('d'), { ...given, tags })
  await started.settle()
  const read = json(await started.call('GET', at('d')))
  assert.deepEqual(read.tags, tags)
  assert.equal(read.properties.validationLevel, 'Provider')
  assert.deepEqual(read.properties.providers, [
    { namespace: 'Vendor.Secrets', resourceTypes: [{ resourceType: 'vaults', locations: [] }] },
  ])
  await started.call('PUT', at('d'), body([]))
  assert.equal(json(await started.call('GET', at('d'))).tags, undefined)
})

test('with validationLevel Template only the template is looked at beforehand', async () => {
  await using started = await startDeployments()
  const given = body([{ ...vault, type: 'Vendor.Secrets/none', name: 'v' }], {
    validationLevel: 'Template',
  })
  const valid = json(await started.call('POST', `${at('d')}/validate`, given))
  assert.equal(valid.properties.validationLevel, 'Template')
  await started.call('PUT', at('d'), given)
  await started.settle()
  const read = json(await started.call('GET', at('d'))).properties
  assert.equal(read.provisioningState, 'Failed')
  assert.equal(read.error.details[0].code, 'InvalidResourceType')
})

test('what is not served is refused by name, by PUT, validate and whatIf', async () => {
  await using started = await startDeployments()
  const settings = {
    onErrorDeployment: { type: 'LastSuccessful' },
    debugSetting: { detailLevel: 'requestContent' },
    extensionConfigs: { any: {} },
    validationLevel: 'Half',
  }
  for (const [name, value] of Object.entries(settings)) {
    for (const [method, path] of [
      ['PUT', at('d')],
      ['POST', `${at('d')}/validate`],
      ['POST', `${at('d')}/whatIf`],
    ] as const) {
      await assert.rejects(started.call(method, path, body([], { [name]: value })), {
        code: 'DeploymentSettingNotServed',
        message: new RegExp(`'properties.${name}' is not served here`),
      })
    }
  }
  const harmless = { debugSetting: { detailLevel: 'none' }, extensionConfigs: {} }
  await started.call('PUT', at('d'), body([], { ...harmless, onErrorDeployment: null }))
})

test('a deployment to a subscription has a location, which stays', async () => {
  await using started = await startDeployments()
  const path = at('d', subscription)
  const template = { ...templateFor([]), $schema: 'subscriptionDeploymentTemplate.json#' }
  const properties = { template }
  for (const [method, to] of [
    ['PUT', path],
    ['POST', `${path}/validate`],
    ['POST', `${path}/whatIf`],
  ] as const) {
    await assert.rejects(started.call(method, to, { properties }), { code: 'LocationRequired' })
  }
  await started.call('PUT', path, { location: 'local', properties })
  await started.settle()
  await assert.rejects(started.call('PUT', path, { location: 'elsewhere', properties }), {
    code: 'InvalidDeploymentLocation',
  })
  await started.call('PUT', path, { location: 'LOCAL', properties })
})

test('a canceled deployment says so in its error', async () => {
  await using started = await startDeployments({ asleep: true })
  await started.call('PUT', at('d'), body([{ ...vault, name: 'v' }]))
  await started.call('POST', `${at('d')}/cancel`)
  started.plane.reconciler.start()
  await started.settle()
  const read = json(await started.call('GET', at('d'))).properties
  assert.equal(read.provisioningState, 'Canceled')
  assert.equal(read.error.code, 'DeploymentCanceled')
  const changes = json(await started.call('POST', `${at('d')}/whatIf`, body([]))).properties
  assert.match(changes.correlationId, /^[\w-]+$/)
})

test('the tags of a scope are deployed, and change nothing the second time', async () => {
  await using started = await startDeployments()
  const tags = { type: 'Vendor.Resources/tags', apiVersion: '2021-04-01', name: 'default' }
  const resources = [
    { ...tags, properties: { tags: { team: 'blue' } } },
    { ...vault, name: 'v' },
    {
      ...tags,
      scope: 'Vendor.Secrets/vaults/v',
      dependsOn: ["[resourceId('Vendor.Secrets/vaults', 'v')]"],
      properties: { tags: { team: 'red' } },
    },
  ]
  await started.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
  const given = body(resources)
  const before = json(await started.call('POST', `${at('d')}/whatIf`, given)).properties.changes
  assert.deepEqual(
    before.map(({ changeType }: { changeType: string }) => changeType),
    ['Modify', 'Create', 'Modify'],
  )
  await started.call('PUT', at('d'), given)
  await started.settle()
  const read = json(await started.call('GET', at('d'))).properties
  assert.equal(read.provisioningState, 'Succeeded')
  const seen = await started.call('GET', `${group}/providers/Vendor.Secrets/vaults/v`, undefined, {
    version: '2026-01-01',
  })
  assert.deepEqual(json(seen).tags, { team: 'red' })
  const again = body(resources.slice(0, 1))
  const after = json(await started.call('POST', `${at('d')}/whatIf`, again)).properties.changes
  const ofGroup = after.find((one: { resourceId: string }) => /tags\/default$/.test(one.resourceId))
  assert.equal(ofGroup.changeType, 'NoChange')
})
