/**
 * The image as it is run: not root, nothing to write but its volume, no network but its port. Its base is made of this
 * machine's Node and libraries, so that no registry of images is needed.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { writeTar } from '#engines/containers/docker/tar.ts'
import { startPodman } from '#engines/containers/testing/podman.ts'
import { requireOrSkip } from '../require.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const base = 'localhost/armature-test/node:1'
const image = 'localhost/armature-test/armature:1'

test('the image serves, keeps its state in its volume, and stops whole', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using engine = podman
  const folder = mkdtempSync(join(tmpdir(), 'armature-image-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const call = (...words: readonly string[]) => engine.podman(...words)

  const tarball = join(folder, 'base.tar')
  writeFileSync(tarball, await nodeAndItsLibraries())
  await call('import', '--change', 'ENV PATH=/usr/bin', tarball, base)
  const context = join(folder, 'context')
  await run('npm', ['run', '--silent', 'image', '--', '--context', context], { cwd: root })
  const file = join(root, 'deploy/Containerfile')
  const options = ['--format', 'docker', '--isolation', 'chroot', '--build-arg', `RUNTIME=${base}`]
  await call('build', ...options, '--tag', image, '--file', file, context)

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

/** A root file system of the running Node and what its loader needs. */
async function nodeAndItsLibraries(): Promise<Uint8Array> {
  const { stdout } = await run('ldd', [process.execPath])
  const libraries = [...stdout.matchAll(/(?:=>\s+)?(\/\S+)\s+\(0x/g)].map(([, path]) => path ?? '')
  const files = [
    ['usr/bin/node', process.execPath],
    ...libraries.map((path) => [path.slice(1), path]),
  ] as const
  const folders = new Set(['tmp/', 'etc/'])
  for (const [name = ''] of files) {
    const steps = name.split('/').slice(0, -1)
    steps.forEach((_, at) => {
      folders.add(`${steps.slice(0, at + 1).join('/')}/`)
    })
  }
  return writeTar([
    ...[...folders].map((name) => ({ name, mode: name === 'tmp/' ? 0o1777 : 0o755 })),
    ...files.map(([name = '', path = '']) => ({ name, mode: 0o755, bytes: readFileSync(path) })),
  ])
}

async function answered(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => undefined,
    )
    if (status === 200) return
    assert.ok(attempt < 300, `${url} answers ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
