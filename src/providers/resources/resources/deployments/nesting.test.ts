/** Trees of deployments: a template that deploys itself ends, and a cancel reaches every level. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../../../tests/until.ts'
import { DeploymentTrees, nestingLimits } from '../../domain/deployments/nesting.ts'
import { group, type Started, startDeployments, templateFor } from '../../testing/start.ts'
import type { Deployment } from './model.ts'

const deploymentType = 'Vendor.Resources/deployments'
const root = `${group}/providers/${deploymentType}/root`

async function deploymentsOf(started: Started) {
  return started.plane.reader.list({ type: 'Resources/deployments', under: '/', limit: 1000 })
}

/** Contains itself: each level deploys the template that it was given, under a new name. */
const deploysItself = templateFor([
  {
    type: deploymentType,
    apiVersion: '2025-03-01',
    name: "[concat('r', uniqueString(deployment().name))]",
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: '[deployment().properties.template]',
    },
  },
])

test('a template that deploys itself ends at the deepest level that is allowed', async () => {
  await using started = await startDeployments()
  await started.call('PUT', root, {
    properties: { mode: 'Incremental', template: deploysItself },
  })
  await started.settle()
  const made = await deploymentsOf(started)
  assert.equal(made.length, 1 + nestingLimits.depth)
  assert.deepEqual([...new Set(made.map((one) => one.state))], ['Failed'])
  const depths = made.map((one) => (one.model as Deployment).nesting?.depth ?? 0)
  assert.deepEqual(
    depths.sort((a, b) => a - b),
    made.map((_, at) => at),
  )
  const roots = new Set(made.flatMap((one) => (one.model as Deployment).nesting?.root ?? []))
  assert.equal(roots.size, 1)
})

test('one request begins a bounded number of deployments, and the same one again counts once', () => {
  const trees = new DeploymentTrees()
  const nested = (run: number, tree: string) => ({
    run: `run ${run}`,
    nesting: { root: tree, depth: 1, parent: { id: root, run: tree } },
    secrets: [],
  })
  for (let run = 0; run < nestingLimits.deployments; run += 1) trees.admit(nested(run, 'one'))
  trees.admit(nested(0, 'one'))
  assert.throws(() => trees.admit(nested(nestingLimits.deployments, 'one')), {
    code: 'NestedDeploymentQuota',
  })
  trees.admit(nested(nestingLimits.deployments, 'another'))
})

const slowThenVault = templateFor([
  {
    type: 'Vendor.ContainerInstance/containerGroups',
    apiVersion: '2025-09-01',
    name: 'slow',
    location: 'local',
    properties: {
      osType: 'Linux',
      restartPolicy: 'Never',
      initContainers: [
        {
          name: 'wait',
          properties: {
            image: 'any',
            environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: 'exit:0@3600s' }],
          },
        },
      ],
      containers: [
        {
          name: 'one',
          properties: { image: 'any', resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } } },
        },
      ],
    },
  },
  {
    type: 'Vendor.Secrets/vaults',
    apiVersion: '2026-01-01',
    name: 'after',
    location: 'local',
    dependsOn: ["[resourceId('Vendor.ContainerInstance/containerGroups', 'slow')]"],
  },
])

function nestedDeployment(name: string, template: object): object {
  return {
    type: deploymentType,
    apiVersion: '2025-03-01',
    name,
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template,
    },
  }
}

test('a cancel reaches every level of nested deployments', async () => {
  await using started = await startDeployments()
  const inner = templateFor([nestedDeployment('innermost', slowThenVault)])
  const template = templateFor([nestedDeployment('inner', inner)])
  await started.call('PUT', root, { properties: { mode: 'Incremental', template } })
  await until(async () => {
    const made = await deploymentsOf(started)
    return made.find((one) => one.id.text.endsWith('/innermost'))?.state === 'Running'
  })
  await started.call('POST', `${root}/cancel`)
  await started.settle()
  const states = (await deploymentsOf(started)).map((one) => one.state)
  assert.deepEqual(states, ['Canceled', 'Canceled', 'Canceled'])
  const vaults = await started.plane.reader.list({ type: 'Secrets/vaults', under: '/', limit: 10 })
  assert.deepEqual(vaults, [])
})

test('what another wrote over a nested deployment is not taken for what that one says', async () => {
  await using started = await startDeployments()
  const { call } = started
  const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
  const nested = (who: string): object => ({
    properties: {
      mode: 'Incremental',
      expressionEvaluationOptions: { scope: 'inner' },
      template: templateFor([], { outputs: { who: { type: 'string', value: who } } }),
    },
  })
  const said = "reference(resourceId('Vendor.Resources/deployments', 'net'), '2025-03-01')"
  const isReady = "[lambda('r', equals(lambdaVariables('r').tags.state, 'ready'))]"
  const slow = {
    ...vault,
    name: 'slow',
    tags: { state: 'made' },
    dependsOn: ["[resourceId('Vendor.Resources/deployments', 'net')]"],
    '@options': { waitUntil: [isReady, 'PT1H'] },
  }
  const last = {
    ...vault,
    name: 'last',
    tags: { who: `[${said}.outputs.who.value]` },
    dependsOn: ["[resourceId('Vendor.Secrets/vaults', 'slow')]"],
  }
  const net = { type: deploymentType, apiVersion: '2025-03-01', name: 'net', ...nested('honest') }
  const template = templateFor([net, slow, last])
  await call('PUT', root, { properties: { mode: 'Incremental', template } })
  const at = (name: string): string => `${group}/providers/Vendor.Secrets/vaults/${name}`
  await until(async () => (await started.plane.reader.get(at('slow'))) !== undefined)
  await call('PUT', `${group}/providers/${deploymentType}/net`, nested('another'))
  const ready = { location: 'local', tags: { state: 'ready' } }
  await call('PUT', at('slow'), ready, { version: '2026-01-01' })
  await until(async () => (await started.plane.reader.get(root))?.state === 'Failed')
  const observed = (await started.plane.reader.get(root))?.observed
  assert.match(JSON.stringify(observed), /DeploymentReplaced/)
  assert.equal(await started.plane.reader.get(at('last')), undefined)
})
