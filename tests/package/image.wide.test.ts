/**
 * The image as it is run: not root, nothing writable but its volume, no network but its port. Its base is made of
 * this machine's Node and libraries, so that no image registry is needed.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { startPodman, type ThrowawayPodman } from '#engines/containers/testing/podman.ts'
import { type Attached, attachInstallation } from '../e2e/installation.ts'
import { walks } from '../e2e/newcomer.ts'
import { blocksOf, guides, openDesk } from '../e2e/pasted-guides.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { answered, buildImage, homeOf, image } from './container-base.ts'

const root = join(import.meta.dirname, '../..')
const inside = ['/app/node_modules/armature-plane/bin/armature.mjs']

/** Known in advance, like the address that clients use. */
const port = 30_000 + (process.pid % 10_000)
const metricsPort = port + 10_000
const environment = { METRICS: `http://127.0.0.1:${metricsPort}` }

describe('the image', () => {
  const opened = new AsyncDisposableStack()
  let engine: ThrowawayPodman | undefined
  let folder = ''
  let reason = ''
  before(async () => {
    const podman = await startPodman()
    if (typeof podman === 'string') {
      reason = podman
      return
    }
    engine = opened.use(podman)
    folder = mkdtempSync(join(tmpdir(), 'armature-image-'))
    opened.defer(() => rmSync(folder, { recursive: true, force: true }))
    await buildImage(engine, folder)
  })
  after(() => opened.disposeAsync())

  /** Undefined if there is no engine. The test is skipped then. */
  function engineOf(t: TestContext): ThrowawayPodman | undefined {
    requireOrSkip(t, engine !== undefined, reason)
    return engine
  }

  test('serves, keeps its state in its volume, and stops whole', async (t) => {
    const podman = engineOf(t)
    if (podman === undefined) return
    const call = (...words: readonly string[]) => podman.podman(...words)
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

  test('is a module of Testcontainers, as the guide is pasted', async (t) => {
    const podman = engineOf(t)
    if (podman === undefined) return
    const { target } = podman
    assert.ok(target.kind === 'socket')
    const programs = join(root, 'tests/runners/node_modules')
    const how = 'run `npm --prefix tests/runners install --no-package-lock --ignore-scripts`'
    if (!requireOrSkip(t, existsSync(join(programs, 'testcontainers')), how)) return
    // The package is installed in the folder that the image was built from.
    const app = join(folder, 'context', 'app')
    symlinkSync(join(programs, 'testcontainers'), join(app, 'node_modules', 'testcontainers'))
    const guide = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8')
    const block = /^```js testcontainers\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? ''
    writeFileSync(join(app, 'beside.test.mjs'), block.replace("'armature:0.1.0'", `'${image}'`))
    const { NODE_TEST_CONTEXT: _, ...outside } = process.env
    const env = {
      ...outside,
      DOCKER_HOST: `unix://${target.path}`,
      TESTCONTAINERS_RYUK_DISABLED: 'true',
    }
    const ran = promisify(execFile)(process.execPath, ['--test', 'beside.test.mjs'], {
      cwd: app,
      env,
    })
    const { stdout } = await ran.catch((error: { stdout: string; stderr: string }) =>
      assert.fail(error.stdout + error.stderr),
    )
    assert.match(stdout, /pass 1\n/)
    const left = await podman.podman('ps', '--all', '--format', '{{.Image}} {{.Names}}')
    assert.doesNotMatch(left.replace(/^\S+ armature$/m, ''), /armature-test\/armature/)
  })

  if (!isLong) return
  test('the manifest for Kubernetes, played by Podman, keeps its state over a new pod', async (t) => {
    const podman = engineOf(t)
    if (podman === undefined) return
    const manifest = readFileSync(join(root, 'deploy/kubernetes.yaml'), 'utf8')
    const file = join(folder, 'kubernetes.yaml')
    writeFileSync(file, manifest.replace(/image: armature:\S+/, `image: ${image}`))
    const call = (...words: readonly string[]) => podman.podman(...words)
    // Podman makes a network of the machine for what it plays, and leaves it.
    const networks = await call('network', 'ls', '--format', '{{.Name}}')
    const played = 'podman-default-kube-network'
    if (!networks.split('\n').includes(played)) t.after(() => call('network', 'rm', played))
    const play = async (file: string): Promise<string> => {
      await call('kube', 'play', file)
      const names = await call('ps', '--filter', `ancestor=${image}`, '--format', '{{.Names}}')
      const name = names.split('\n').find((one) => one.endsWith('-server')) ?? ''
      await call('exec', name, 'node', ...inside, 'wait')
      return name
    }
    const first = await play(file)
    t.after(() => call('kube', 'down', file))
    const status = await call(
      'exec',
      first,
      'node',
      '-p',
      "fs.readFileSync('/proc/self/status')+''",
    )
    assert.match(status, /^Uid:\t65532\t/m)
    assert.match(status, /^CapBnd:\t0+$/m)
    const touch = (path: string) =>
      call('exec', first, 'node', '-e', `fs.writeFileSync('${path}', '')`)
    await touch('/tmp/may')
    await assert.rejects(touch('/app/may-not'), /EROFS/)
    await call('exec', first, 'node', ...inside, 'resource-group', 'create', 'kept')
    await call('kube', 'down', file)
    // A cluster leaves a claim alone that is there. This Podman refuses to make it again.
    const [, ...others] = readFileSync(file, 'utf8').split('---\n')
    writeFileSync(file, others.join('---\n'))
    const second = await play(file)
    assert.match(await call('exec', second, 'node', ...inside, 'resource-group', 'list'), /kept/)
  })

  describe('walked like a checkout', () => {
    let a: Attached | undefined
    before(async () => {
      if (engine === undefined) return
      const name = 'walked'
      const url = `http://127.0.0.1:${port}`
      await engine.podman(
        ...['run', '--detach', '--name', name, '--read-only', '--cap-drop=all'],
        // It asks its own public address, as the identity provider of the consent guide: so the port is the same inside.
        ...['--env', `ARMATURE_PUBLIC_URL=${url}`, '--env', `ARMATURE_PORT=${port}`],
        ...['--publish', `127.0.0.1:${port}:${port}`],
        ...['--env', 'ARMATURE_METRICS_ADDRESS=0.0.0.0:9100'],
        ...['--publish', `127.0.0.1:${metricsPort}:9100`, image],
      )
      await answered(`${url}/readyz`)
      a = await attachInstallation(await homeOf(engine, name, join(folder, name), url))
    })
    const installation = (): Attached => {
      assert.ok(a !== undefined, reason)
      return a
    }
    walks(() => ({ a: installation(), b: installation() }))
    for (const [guide, pasted] of Object.entries(guides)) {
      test(`${guide}, pasted`, { timeout: 300_000 }, async () => {
        using desk = openDesk()
        await desk.paste(installation().home, blocksOf(guide), { ...pasted, environment })
      })
    }
  })
})
