/**
 * Allowed registries: a refusal by the rules with the property, and again when a group is created; whole names
 * only.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testSeal } from '#plane/testing/provider-context.ts'
import { toModel } from '../../resources/container-groups/versions/to-model.ts'
import { base, body, ids, startContainers, web } from '../../testing/start.ts'
import { engineImage, isAllowedImage } from './image-policy.ts'
import { type GroupHostContext, impossibleReason } from './spec.ts'

const allowed = ['docker.io/library', 'Registry.example:5000/team', 'ghcr.example']

test('which images are of which registry', () => {
  for (const image of [
    'busybox',
    'busybox:1',
    'docker.io/busybox',
    'index.docker.io/library/busybox@sha256:abc',
    'registry.example:5000/team/app:1',
    'REGISTRY.example:5000/team/deep/app',
    'ghcr.example/any/thing',
  ]) {
    assert.ok(isAllowedImage(image, allowed), image)
  }
  for (const image of [
    'library.example/busybox',
    'docker.io/somebody/app',
    'somebody/app',
    'registry.example/team/app',
    'registry.example:5000/teamster/app',
    'registry.example:5000/app',
    'ghcr.example.evil/app',
    'localhost/app',
  ]) {
    assert.ok(!isAllowedImage(image, allowed), image)
  }
  assert.ok(isAllowedImage('localhost/app', []))
  assert.ok(!isAllowedImage('LAN/app', ['lan', 'docker.io']))
})

test('an engine is asked for the whole name where a policy is', () => {
  assert.equal(engineImage('cafe:1', allowed), 'docker.io/library/cafe:1')
  for (const id of ['67f54b1a5bdc', '67f5', '6', 'cafe']) {
    assert.equal(engineImage(id, []), `docker.io/library/${id}`, 'never the beginning of an id')
  }
  assert.equal(engineImage('67f5:1', []), '67f5:1')
  assert.equal(engineImage('team/app', allowed), 'docker.io/team/app')
  assert.equal(engineImage('Ghcr.example/app@sha256:1', allowed), 'ghcr.example/app@sha256:1')
  assert.equal(engineImage('cafe:1', []), 'cafe:1')
  assert.equal(engineImage('LAN/app', allowed), 'LAN/app', 'no folder of the hub')
})

test('another registry’s image is refused with its property, an allowed one runs', async () => {
  await using started = await startContainers({ allowedRegistries: ['registry.example'] })
  const path = `${base}/containerGroups/policy`
  const foreign = body([web('', 'web', { image: 'evil.example/x' })])
  await assert.rejects(
    started.call('PUT', path, foreign),
    /properties\.containers\[0\]\.properties\.image: .*'evil\.example\/x'.*: registry\.example\./,
  )
  assert.equal((await started.call('PUT', path, body())).status, 201)
  const made = await started.until('policy', (one) =>
    ['Succeeded', 'Failed'].includes(one.properties.provisioningState),
  )
  assert.equal(made.properties.provisioningState, 'Succeeded', JSON.stringify(made))
  await started.settle()
})

test('what was written before the policy was set does not run again', () => {
  const preparation = {
    place: `${base}/x`.toLowerCase(),
    location: 'here',
    tenantId: 't',
    userAssigned: {},
  }
  // The body of `body` has properties.
  const { properties } = body() as { properties: object }
  const model = toModel({ properties, preparation }, undefined, { seal: testSeal, ids })
  const around: GroupHostContext = {
    hostAddress: '127.0.0.1',
    keptPorts: [],
    shareRoot: undefined,
    cpusMax: undefined,
    processesPerContainerMax: 100,
    resolvesSecrets: false,
    clonesRepositories: false,
    allowedRegistries: ['docker.io/library'],
  }
  const engine = { runsPrograms: true, hostFolders: true, gpu: false }
  assert.equal(impossibleReason(model, around, engine)?.code, 'ImageNotAllowed')
  const open = { ...around, allowedRegistries: ['registry.example'] }
  assert.equal(impossibleReason(model, open, engine), undefined)
})
