/** An installation that starts while the engine of its container groups is away waits for it. */

import assert from 'node:assert/strict'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPodman, testImage } from '../../src/engines/containers/testing/podman.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import { createResourceGroup } from './access.ts'
import { freshHome, type Installation, startInstallation } from './installation.ts'

const version = 'api-version=2025-09-01'

const body = {
  location: 'local',
  properties: {
    osType: 'Linux',
    containers: [
      {
        name: 'c',
        properties: {
          image: testImage,
          command: ['sleep', '1000'],
          resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } },
        },
      },
    ],
  },
}

const groupIn = (on: Installation, name: string): string =>
  `/subscriptions/${on.subscriptionId}/resourceGroups/g/providers/Vendor.ContainerInstance/containerGroups/${name}?${version}`

const stateOf = async (on: Installation, name: string): Promise<unknown> =>
  (await on.request('GET', groupIn(on, name))).at('properties.provisioningState')

async function make(on: Installation, name: string): Promise<void> {
  const made = await on.request('PUT', groupIn(on, name), { body })
  assert.equal(made.status, 201, made.text)
}

async function succeeded(on: Installation, name: string): Promise<void> {
  await until(async () => (await stateOf(on, name)) === 'Succeeded', 100)
}

test('groups made on an engine wait for it, and are not simulated', async (t) => {
  const podman = await startPodman()
  if (!requireOrSkip(t, typeof podman !== 'string', String(podman))) return
  if (typeof podman === 'string') return
  await using engine = podman
  const { target } = engine
  assert.ok(target.kind === 'socket')
  const home = freshHome()
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const socket = join(home, 'engine.sock')
  const start = (containers = 'auto') =>
    startInstallation({
      home,
      environment: {
        ARMATURE_CONTAINERS: containers,
        ARMATURE_DOCKER_HOST: `unix://${socket}`,
      },
    })
  symlinkSync(target.path, socket)
  {
    await using on = await start()
    await createResourceGroup(on, `/subscriptions/${on.subscriptionId}/resourceGroups/g`)
    await make(on, 'one')
    await succeeded(on, 'one')
    await on.stop()
  }
  rmSync(socket)
  {
    await using on = await start()
    assert.match(on.output(), /Containers +waiting for unix:.*ARMATURE_CONTAINERS=simulated/)
    assert.match(on.log(), /container groups wait for their engine/)
    const ready = await on.request('GET', '/readyz', { token: null })
    assert.equal(ready.status, 200)
    assert.match(ready.text, /ARMATURE_CONTAINERS/)
    await make(on, 'two')
    // Long enough for a simulated engine to make it.
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    assert.notEqual(await stateOf(on, 'two'), 'Succeeded')
    assert.equal(existsSync(join(home, 'simulated-containers')), false)
    symlinkSync(target.path, socket)
    await succeeded(on, 'two')
    const made = await engine.podman('ps', '-q', '--filter', `ancestor=${testImage}`)
    assert.equal(made.trim().split('\n').length, 2)
    await on.stop()
  }
  rmSync(socket)
  await using on = await start('simulated')
  assert.match(on.output(), /Containers +simulated/)
})
