/** The published typed client of container groups, on a real engine. */

import { test } from 'node:test'
import { startPodman, testImage } from '../../src/engines/containers/testing/podman.ts'
import { requireOrSkip } from '../require.ts'
import { runClientTest } from './published.ts'

test('the typed client of container groups', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  // Disposed after the installation, which is created later.
  await using _podman = podman
  const { target } = podman
  if (target.kind !== 'socket') throw new TypeError('a socket is expected')
  await t.test('on Podman', (t) =>
    runClientTest(t, {
      file: import.meta.filename,
      programs: ['containers.mjs'],
      packages: ['@azure/arm-containerinstance', '@azure/arm-resources'],
      environment: { ARMATURE_CONTAINERS: 'docker', ARMATURE_DOCKER_HOST: `unix://${target.path}` },
      prepare: async () => ({
        image: testImage,
        missingImage: 'localhost/armature-test/nothing:1',
      }),
    }),
  )
})
