/** What a replica remembers of a deployment or a stack ends where another one has gone on with it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTerminalState } from '#kernel/operation.ts'
import { until } from '../../../../../tests/until.ts'
import { type Replica, startReplicas } from '../../testing/replicas.ts'
import { group, templateFor } from '../../testing/start.ts'
import type { DeploymentStack } from '../deployment-stacks/model.ts'

const slow = `${group}/providers/Vendor.ContainerInstance/containerGroups/slow`
const lock = `${group}/providers/Vendor.Authorization/locks/l`
const locks = { version: '2020-05-01' }
const stacks = { version: '2024-03-01' }
const vaults = { version: '2026-01-01' }
const vaultAt = (name: string): string => `${group}/providers/Vendor.Secrets/vaults/${name}`

const pod = {
  type: 'Vendor.ContainerInstance/containerGroups',
  apiVersion: '2023-05-01',
  name: 'slow',
  location: 'local',
  properties: {
    osType: 'Linux',
    containers: [
      {
        name: 'web',
        properties: { image: 'nginx', resources: { requests: { cpu: 1, memoryInGB: 1 } } },
      },
    ],
  },
}

const vault = (name: string, dependsOn: readonly string[] = []): object => ({
  type: 'Vendor.Secrets/vaults',
  apiVersion: '2026-01-01',
  name,
  location: 'local',
  dependsOn,
})

async function stateOf({ t }: Replica, path: string): Promise<string> {
  return (await t.plane.reader.get(path))?.state ?? ''
}

const isThere = async ({ t }: Replica, path: string): Promise<boolean> =>
  (await t.plane.reader.get(path)) !== undefined

/** Until this replica waits for the slow resource; then the other one goes on. */
async function waits(one: Replica, other: Replica, path: string): Promise<void> {
  await until(() => isThere(one, slow))
  // What it sent is recorded.
  await one.look(path)
  one.isPaused = true
  other.isPaused = false
}

function returns(one: Replica, other: Replica): void {
  other.isPaused = true
  one.left.clear()
  one.isPaused = false
}

test('a deployment that another replica has ended stays ended', async () => {
  await using replicas = await startReplicas()
  const { one, other } = replicas
  const path = `${group}/providers/Vendor.Resources/deployments/d`
  one.left.add(slow.toLowerCase())
  other.isPaused = true
  const template = templateFor([pod, vault('b', [slow])])
  await one.t.call('PUT', path, { properties: { mode: 'Incremental', template } })
  await waits(one, other, path)
  assert.equal(await stateOf(one, path), 'Running')
  await other.t.call('PUT', lock, { properties: { level: 'ReadOnly' } }, locks)
  await other.look(slow)
  await until(async () => {
    await other.look(path)
    return isTerminalState(await stateOf(other, path))
  })
  assert.equal(await stateOf(other, path), 'Failed')
  await other.t.call('DELETE', lock, undefined, locks)
  returns(one, other)
  await one.look(path)
  assert.equal(await stateOf(one, path), 'Failed')
  assert.equal(await isThere(one, vaultAt('b')), false)
})

test('a deployment that another replica went on with is taken from the store', async () => {
  await using replicas = await startReplicas()
  const { one, other } = replicas
  const path = `${group}/providers/Vendor.Resources/deployments/d`
  const last = { ...pod, name: 'last', dependsOn: [vaultAt('b')] }
  const lastPath = slow.replace('slow', 'last')
  one.left.add(slow.toLowerCase())
  other.left.add(lastPath.toLowerCase())
  other.isPaused = true
  const template = templateFor([pod, vault('b', [slow]), last])
  await one.t.call('PUT', path, { properties: { mode: 'Incremental', template } })
  await waits(one, other, path)
  await other.look(slow)
  await until(async () => {
    await other.look(path)
    return isThere(other, lastPath)
  })
  await other.look(path)
  assert.equal(await stateOf(other, path), 'Running')
  // Somebody deletes what was made: it is not sent again.
  await other.t.call('DELETE', vaultAt('b'), undefined, vaults)
  returns(one, other)
  await one.look(lastPath)
  await until(async () => {
    await one.look(path)
    return isTerminalState(await stateOf(one, path))
  })
  assert.equal(await stateOf(one, path), 'Succeeded')
  assert.equal(await isThere(one, vaultAt('b')), false)
})

test('a deployment whose outputs failed has failed, also where another replica sees its fallback end', async () => {
  await using replicas = await startReplicas()
  const { one, other } = replicas
  const at = (name: string): string => `${group}/providers/Vendor.Resources/deployments/${name}`
  other.isPaused = true
  const put = (name: string, properties: object): Promise<unknown> =>
    one.t.call('PUT', at(name), { properties: { mode: 'Incremental', ...properties } })
  await put('good', { template: templateFor([vault('a')]) })
  await until(async () => (await stateOf(one, at('good'))) === 'Succeeded')
  one.left.add(at('good').toLowerCase())
  const outputs = { bad: { type: 'string', value: "[reference('b').nope]" } }
  const template = templateFor([vault('b')], { outputs })
  await put('d', { template, onErrorDeployment: { type: 'LastSuccessful' } })
  await until(async () => !isTerminalState(await stateOf(one, at('good'))))
  await one.look(at('d'))
  one.isPaused = true
  other.isPaused = false
  await until(async () => {
    await other.look(at('good'))
    await other.look(at('d'))
    return isTerminalState(await stateOf(other, at('d')))
  })
  assert.equal(await stateOf(other, at('d')), 'Failed')
})

const stackPath = `${group}/providers/Vendor.Resources/deploymentStacks/s`

/** A stack that deletes what its template does not name any more. */
async function putStack({ t }: Replica, resources: readonly object[]): Promise<void> {
  const properties = {
    template: templateFor(resources),
    actionOnUnmanage: { resources: 'delete', resourceGroups: 'detach' },
    denySettings: { mode: 'none' },
  }
  await t.call('PUT', stackPath, { properties }, stacks)
}

test('a stack that another replica has ended deletes nothing once more', async () => {
  await using replicas = await startReplicas()
  const { one, other } = replicas
  other.isPaused = true
  const path = stackPath
  const put = (resources: readonly object[]) => putStack(one, resources)
  await put([vault('a'), vault('c')])
  await until(async () => isTerminalState(await stateOf(one, path)))
  assert.equal(await stateOf(one, path), 'Succeeded')
  one.left.add(slow.toLowerCase())
  await put([vault('a'), pod])
  const row = await one.t.plane.reader.get(path)
  assert.ok(row !== undefined)
  const { deploymentId } = row.model as DeploymentStack
  await waits(one, other, path)
  await other.look(slow)
  await until(async () => {
    await other.look(deploymentId)
    await other.look(path)
    return isTerminalState(await stateOf(other, path))
  })
  assert.equal(await stateOf(other, path), 'Succeeded')
  assert.equal(await isThere(other, vaultAt('c')), false)
  await other.t.call('PUT', vaultAt('c'), { location: 'local' }, vaults)
  returns(one, other)
  await one.look(path)
  await one.t.plane.reconciler.idle()
  assert.equal(await stateOf(one, path), 'Succeeded')
  assert.equal(await isThere(one, vaultAt('c')), true)
})

test('what a stack has deleted and somebody made anew stays, although another replica goes on with the stack', async () => {
  await using replicas = await startReplicas()
  const { one, other } = replicas
  other.isPaused = true
  const path = stackPath
  const put = (resources: readonly object[]) => putStack(one, resources)
  await put([vault('a'), pod])
  await until(async () => isTerminalState(await stateOf(one, path)))
  assert.equal(await stateOf(one, path), 'Succeeded')
  one.left.add(slow.toLowerCase())
  await put([vault('a')])
  await until(async () => (await stateOf(one, slow)) === 'Deleting')
  await waits(one, other, path)
  await other.look(slow)
  await until(async () => !(await isThere(other, slow)))
  const { type: _type, name: _name, apiVersion: version, ...body } = pod
  await other.t.call('PUT', slow, body, { version })
  await until(async () => {
    await other.look(path)
    return isTerminalState(await stateOf(other, path))
  })
  assert.equal(await stateOf(other, path), 'Succeeded')
  assert.equal(await stateOf(other, slow), 'Succeeded')
})
