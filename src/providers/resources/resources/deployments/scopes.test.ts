/** Deployments at the tenant, management groups, subscriptions and groups, nested in every direction. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { owner } from '#plane/testing/start.ts'
import { group, type Started, startDeployments, subscription } from '../../testing/start.ts'

const managementGroup = '/providers/Vendor.Management/managementGroups/corp'
const subscriptionId = subscription.slice(15)
const contributor = 'b24988ac-6180-42a0-ab88-20f7382dd24c'

// Answers are read as the clients see them.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
const json = ({ body }: { readonly body?: unknown }): any => JSON.parse(JSON.stringify(body))
const at = (scope: string, name: string): string =>
  `${scope}/providers/Vendor.Resources/deployments/${name}`

const scopes = {
  tenant: { path: '', schema: 'tenantDeploymentTemplate.json#' },
  managementGroup: { path: managementGroup, schema: 'managementGroupDeploymentTemplate.json#' },
  subscription: { path: subscription, schema: 'subscriptionDeploymentTemplate.json#' },
  group: { path: group, schema: 'deploymentTemplate.json#' },
} as const
type ScopeName = keyof typeof scopes
const names = Object.keys(scopes) as ScopeName[]

function template(scope: ScopeName, resources: readonly object[], sections: object = {}): object {
  return { $schema: scopes[scope].schema, contentVersion: '1.0.0.0', resources, ...sections }
}

/** How a template says that a nested deployment goes to that scope. */
function target(scope: ScopeName): object {
  switch (scope) {
    case 'tenant':
      return { scope: '/', location: 'local' }
    case 'managementGroup':
      return { scope: 'Vendor.Management/managementGroups/corp', location: 'local' }
    case 'subscription':
      return { subscriptionId, location: 'local' }
    case 'group':
      return { subscriptionId, resourceGroup: 'rg' }
    default:
      return scope satisfies never
  }
}

/** Something that can be made at every scope. */
const assignment = (principalId: string): object => ({
  type: 'Vendor.Authorization/roleAssignments',
  apiVersion: '2022-04-01',
  name: "[guid(deployment().name, 'assignment')]",
  properties: {
    principalId,
    principalType: 'User',
    roleDefinitionId: `/providers/Vendor.Authorization/roleDefinitions/${contributor}`,
  },
})

async function prepare(started: Started): Promise<void> {
  await started.call('PUT', managementGroup, {}, { version: '2020-05-01' })
  await started.call('PUT', group, { location: 'local' }, { version: '2021-04-01' })
}

async function deploy(started: Started, scope: ScopeName, name: string, given: object) {
  const location = scope === 'group' ? {} : { location: 'local' }
  const path = at(scopes[scope].path, name)
  const body = { ...location, properties: { mode: 'Incremental', template: given } }
  await started.call('POST', `${path}/validate`, body)
  await started.call('PUT', path, body)
  await started.settle()
  const changes = json(await started.call('POST', `${path}/whatIf`, body)).properties.changes
  return { read: json(await started.call('GET', path)), changes }
}

for (const outer of names) {
  test(`from ${outer} to every scope`, async () => {
    await using started = await startDeployments()
    await prepare(started)
    const nested = names.map((inner) => ({
      type: 'Vendor.Resources/deployments',
      apiVersion: '2022-09-01',
      name: `to-${inner}`,
      ...target(inner),
      properties: {
        mode: 'Incremental',
        expressionEvaluationOptions: { scope: 'inner' },
        template: template(inner, [assignment(randomUUID())]),
      },
    }))
    const { read, changes } = await deploy(started, outer, 'outer', template(outer, nested))
    assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read.properties))
    for (const inner of names) {
      const path = at(scopes[inner].path, `to-${inner}`)
      const { properties } = json(await started.call('GET', path))
      const [made] = properties.outputResources
      const scope = scopes[inner].path
      assert.ok(made.id.startsWith(`${scope}/providers/Vendor.Authorization/`), made.id)
      const operations = json(await started.call('GET', `${path}/operations`))
      assert.equal(operations.value[0].properties.targetResource.id, made.id)
    }
    const seen = changes.filter(({ changeType }: { changeType: string }) => changeType !== 'Ignore')
    assert.deepEqual(
      seen.map(({ changeType }: { changeType: string }) => changeType),
      names.map(() => 'NoChange'),
    )
  })
}

test('a template at the tenant makes management groups, and what lies in them', async () => {
  await using started = await startDeployments()
  await started.call('PUT', subscription, {}, { version: '2022-12-01' })
  const type = 'Vendor.Management/managementGroups'
  const made = template(
    'tenant',
    [
      { type, apiVersion: '2021-04-01', name: 'corp', properties: {} },
      {
        type,
        apiVersion: '2021-04-01',
        name: 'online',
        properties: { details: { parent: { id: `[tenantResourceId('${type}', 'corp')]` } } },
        dependsOn: [`[tenantResourceId('${type}', 'corp')]`],
      },
      {
        type: `${type}/subscriptions`,
        apiVersion: '2021-04-01',
        name: `online/${subscriptionId}`,
        dependsOn: [`[tenantResourceId('${type}', 'online')]`],
      },
      {
        type: 'Vendor.Resources/deployments',
        apiVersion: '2022-09-01',
        name: 'inside',
        ...target('managementGroup'),
        dependsOn: [`[tenantResourceId('${type}', 'corp')]`],
        properties: {
          mode: 'Incremental',
          expressionEvaluationOptions: { scope: 'inner' },
          template: template('managementGroup', [], {
            outputs: {
              name: { type: 'string', value: '[managementGroup().name]' },
              tenant: { type: 'string', value: '[tenant().tenantId]' },
              place: { type: 'string', value: '[deployment().location]' },
            },
          }),
        },
      },
    ],
    { outputs: { name: { type: 'string', value: "[reference('inside').outputs.name.value]" } } },
  )
  const { read } = await deploy(started, 'tenant', 'all', made)
  assert.equal(read.properties.provisioningState, 'Succeeded', JSON.stringify(read.properties))
  assert.equal(read.properties.outputs.name.value, 'corp')
  const online = `/providers/${type}/online`
  const place = `${online}/subscriptions/${subscriptionId}`
  const found = json(await started.call('GET', place, undefined, { version: '2020-05-01' }))
  assert.equal(found.properties.parent.id, online)
})

test('a scope that is not there, and one that may not be deployed to, are refused beforehand', async () => {
  await using started = await startDeployments()
  await prepare(started)
  const body = { location: 'local', properties: { template: template('managementGroup', []) } }
  const nowhere = '/providers/Vendor.Management/managementGroups/nowhere'
  for (const [method, path] of [
    ['POST', `${at(nowhere, 'd')}/validate`],
    ['POST', `${at(nowhere, 'd')}/whatIf`],
    ['PUT', at(nowhere, 'd')],
  ] as const) {
    await assert.rejects(started.call(method, path, body), { code: 'ResourceNotFound' })
  }
  await assert.rejects(
    started.call('PUT', at(managementGroup, 'd'), { properties: body.properties }),
    { code: 'LocationRequired' },
  )
  const as = { ...owner, id: randomUUID() }
  const denied = { code: 'AuthorizationFailed' }
  await assert.rejects(started.call('PUT', at(managementGroup, 'd'), body, { as }), denied)
  const tenant = { location: 'local', properties: { template: template('tenant', []) } }
  await assert.rejects(started.call('PUT', at('', 'd'), tenant, { as }), denied)
})

test('a management group goes with the deployments that ended in it, not while one is under way', async () => {
  await using started = await startDeployments()
  await prepare(started)
  const remove = () => started.call('DELETE', managementGroup, undefined, { version: '2020-05-01' })
  const body = { location: 'local', properties: { template: template('managementGroup', []) } }
  await started.call('PUT', at(managementGroup, 'd'), body)
  await assert.rejects(remove(), { code: 'Conflict' })
  await started.settle()
  await remove()
  const query = { type: 'Resources/deployments', under: '/', limit: 9 }
  assert.deepEqual(await started.plane.reader.list(query), [])
})
