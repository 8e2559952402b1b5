/**
 * The image as it is run: not root, nothing to write but its volume, no network but its port. Its base is made of this
 * machine's Node and libraries, so that no registry of images is needed.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPodman } from '#engines/containers/testing/podman.ts'
import { requireOrSkip } from '../require.ts'
import { answered, buildImage, image } from './container-base.ts'

test('the image serves, keeps its state in its volume, and stops whole', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using engine = podman
  const folder = mkdtempSync(join(tmpdir(), 'armature-image-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const call = (...words: readonly string[]) => engine.podman(...words)

  await buildImage(engine, folder)

  await call('volume', 'create', 'home')
  const confined = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges']
  const start = async (): Promise<string> => {
    const place = ['--volume', 'home:/data', '--publish', '127.0.0.1::8080']
    await call('run', '--detach', '--name', 'armature', ...confined, ...place, image)
    const published = (await call('port', 'armature', '8080')).trim()
    const url = `http://${published}`
    await answered(`${url}/readyz`)
    return url
  }
  const url = await start()
  const status = await call('exec', 'armature', 'node', ...inside, 'status', '--json')
  const { tenantId } = JSON.parse(status) as { readonly tenantId: string }
  assert.match(tenantId, /^[0-9a-f-]{36}$/)
  assert.equal((await call('exec', 'armature', 'node', '-p', 'process.getuid()')).trim(), '65532')
  await call('healthcheck', 'run', 'armature')
  const group = ['resource-group', 'create', 'kept', '--location', 'westus']
  await call('exec', 'armature', 'node', ...inside, ...group)
  assert.equal((await fetch(`${url}/subscriptions?api-version=2022-12-01`)).status, 401)

  await call('stop', '--time', '30', 'armature')
  const ended = await call('inspect', '--format', '{{.State.ExitCode}}', 'armature')
  assert.equal(ended.trim(), '0')
  await call('rm', 'armature')
  await start()
  const shown = await call('exec', 'armature', 'node', ...inside, 'resource-group', 'list')
  assert.match(shown, /kept/)
})

const inside = ['/app/node_modules/armature-plane/bin/armature.mjs']
