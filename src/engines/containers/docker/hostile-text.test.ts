/**
 * Podman's Docker-compatible API turns a mount into text with commas and parses it again. Mount paths that try to
 * inject options are refused before that: nothing is created, and the host stays out of reach.
 */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { GroupSpec, VolumeSpec } from '../engine.ts'
import { startPodman, type ThrowawayPodman, testImage } from '../testing/podman.ts'
import { DockerEngine } from './docker-engine.ts'

/** `outside` is a folder of the host that no group may access. */
const hostilePaths = (outside: string): readonly string[] => [
  // The escape as it was found: a new volume that is a folder of the host.
  `/mnt,source=evil1,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=${outside}`,
  `/mnt,source=${outside}`,
  `/mnt,type=bind,source=${outside}`,
  '/mnt,ro=false',
  '/mnt","source=/',
  '/mnt\nsource=/',
  '/mnt:/etc:rw',
  '/mnt/../etc',
  '/mnt\0',
  '/mnt\\,x',
  "/mnt'",
  // A volume there tells the runtime what to hide, and what to show instead.
  '/dev',
  '/dev/',
  '/dev/null',
  '/proc',
  '/proc/sys',
  '/sys/fs/cgroup',
  'mnt',
  '/',
  '//',
  '',
]

describe('hostile mount paths on Podman', () => {
  let podman: ThrowawayPodman | string = 'not started'
  let outside = ''
  before(async () => {
    podman = await startPodman()
    outside = await mkdtemp(join(tmpdir(), 'armature-outside-'))
  })
  after(async () => {
    if (typeof podman !== 'string') await podman[Symbol.asyncDispose]()
    await rm(outside, { recursive: true })
  })

  for (const kind of ['empty', 'host'] as const) {
    test(`below a volume of the kind ${kind}`, async (t) => {
      const reason = typeof podman === 'string' ? podman : ''
      if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
      await using engine = new DockerEngine({ target: podman.target, installation: 'hostile' })
      for (const [at, path] of hostilePaths(outside).entries()) {
        const volume: VolumeSpec =
          kind === 'empty' ? { kind, name: 'v0' } : { kind, name: 'v0', folder: podman.folder }
        try {
          await assert.rejects(
            async () => {
              await engine.create(`${kind}${at}`, specOf(volume, path))
              await engine.start(`${kind}${at}`, specOf(volume, path), ['web'])
            },
            { name: 'EngineError', kind: 'refused', message: /mount path/ },
            path,
          )
          assert.equal(existsSync(join(outside, 'escaped')), false, path)
          assert.equal(existsSync(join(podman.folder, 'escaped')), false, path)
          assert.deepEqual(await podman.contents(), [])
        } finally {
          await engine.remove(`${kind}${at}`)
        }
      }
    })
  }
})

function specOf(volume: VolumeSpec, path: string): GroupSpec {
  return {
    hash: 'h1',
    restart: 'never',
    parts: [
      {
        name: 'web',
        init: false,
        image: testImage,
        command: ['sh', '-c', 'echo host > /mnt/escaped'],
        environment: [],
        mounts: [{ volume: 'v0', path, readOnly: false }],
        limits: {},
      },
    ],
    volumes: [volume],
    ports: [],
  }
}
