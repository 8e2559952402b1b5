/** Whoever lost the right to a vault's secret does not get its next value through containers of theirs. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startPodman, testImage } from '../../src/engines/containers/testing/podman.ts'
import { requireOrSkip } from '../require.ts'
import { until } from '../until.ts'
import {
  assertRefused,
  createApplication,
  createResourceGroup,
  grant,
  revoke,
  roles,
} from './access.ts'
import { startInstallation } from './installation.ts'

const containers = 'api-version=2025-09-01'
const secrets = 'api-version=2026-01-01'

test('a restart and a start do not fetch a secret that its writer may no longer use', async (t) => {
  const podman = await startPodman()
  if (!requireOrSkip(t, typeof podman !== 'string', String(podman))) return
  if (typeof podman === 'string') return
  await using engine = podman
  const { target } = engine
  assert.ok(target.kind === 'socket')
  await using on = await startInstallation({
    environment: { ARMATURE_CONTAINERS: 'docker', ARMATURE_DOCKER_HOST: `unix://${target.path}` },
  })
  const at = (name: string): string => `/subscriptions/${on.subscriptionId}/resourceGroups/${name}`
  await createResourceGroup(on, at('a'))
  await createResourceGroup(on, at('b'))
  const writer = await createApplication(on, 'writer')
  await grant(on, at('a'), roles.contributor, writer.principalId)
  const vault = `${at('b')}/providers/Vendor.Secrets/vaults/kept`
  await on.request('PUT', `${vault}?${secrets}`, { body: { location: 'local', properties: {} } })
  const rotate = async (value: string): Promise<void> => {
    const body = { properties: { value } }
    const done = await on.request('PUT', `${vault}/secrets/s?${secrets}`, { body })
    assert.ok(done.status < 300, done.text)
  }
  await rotate('first-value')
  const right = await grant(on, vault, roles.owner, writer.principalId)
  const { token } = writer
  const group = `${at('a')}/providers/Vendor.ContainerInstance/containerGroups/one`
  const properties = {
    osType: 'Linux',
    secretReferences: [
      { name: 's', identity: '/any', secretReferenceUri: 'armature://kept/secrets/s' },
    ],
    containers: [
      {
        name: 'c',
        properties: {
          image: testImage,
          command: ['sh', '-c', 'echo got $X; sleep 1000'],
          environmentVariables: [{ name: 'X', secureValueReference: 's' }],
          resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } },
        },
      },
    ],
  }
  const body = { location: 'local', properties }
  const made = await on.request('PUT', `${group}?${containers}`, { body, token })
  assert.equal(made.status, 201, made.text)
  const log = async (): Promise<string> =>
    (await on.request('GET', `${group}/containers/c/logs?${containers}`)).text
  const settled = async (): Promise<string> => {
    await until(async () => {
      const { at: read, text } = await on.request('GET', `${group}?${containers}`)
      const state = read('properties.provisioningState')
      // It does not come back by itself, so nothing more would be written.
      assert.notEqual(state, 'Failed', text)
      return state === 'Succeeded'
    }, 100)
    return log()
  }
  // A container writes a while after it runs. Looks without a pause would take the processor that it needs.
  const writes = (value: string) => until(async () => (await settled()).includes(value), 100)
  await writes('first-value')
  await revoke(on, right)
  await rotate('second-value')
  for (const action of ['restart', 'start']) {
    if (action === 'start') {
      const stopped = await on.request('POST', `${group}/stop?${containers}`)
      assert.equal(stopped.status, 204, stopped.text)
      await settled()
    }
    const denied = await on.request('POST', `${group}/${action}?${containers}`, { token })
    assertRefused(denied, 403, 'LinkedAuthorizationFailed')
  }
  for (let looks = 0; looks < 20; looks++) {
    assert.doesNotMatch(await settled(), /second-value/)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  // Nobody lost the owner's right: the new containers get the new value.
  const started = await on.request('POST', `${group}/start?${containers}`)
  assert.equal(started.status, 202, started.text)
  await writes('second-value')
})
