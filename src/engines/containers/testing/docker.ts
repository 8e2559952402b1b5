/**
 * A throwaway Docker for tests: its own storage, containerd, socket and network, without rules of the firewall. It touches no
 * container of anybody else and leaves nothing behind.
 */

import { execFile, spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { Require } from '../contract/fixture.ts'
import { DockerClient, type DockerTarget } from '../docker/client.ts'
import { answers, endEngine, importBusybox, searchPath } from './podman.ts'

const run = promisify(execFile)

export interface ThrowawayDocker extends AsyncDisposable {
  readonly target: DockerTarget
  /** The network that its groups join. */
  readonly network: string
}

const install =
  'install docker.io and busybox-static (Debian: apt-get install --no-install-recommends)'
const network = 'armature-tests'
/** A machine whose kernel or rights do not suffice for a daemon. */
const cannotStart = 'no Docker can start here'

/** A daemon that this machine cannot start is skipped, also where nothing else may be. */
export const requireDocker: Require = (t, available, how) => {
  if (!how.startsWith(cannotStart)) return requireOrSkip(t, available, how)
  t.skip(how)
  return false
}

/** The reason where this machine has none. */
export async function startDocker(): Promise<ThrowawayDocker | string> {
  const env = { PATH: searchPath }
  try {
    await run('dockerd', ['--version'], { env })
  } catch {
    return `no throwaway Docker: ${install}`
  }
  if (process.getuid?.() !== 0) return 'the throwaway Docker has been made to work as root only'
  const folder = await mkdtemp(join(tmpdir(), 'armature-docker-'))
  const socket = join(folder, 'docker.sock')
  const target: DockerTarget = { kind: 'socket', path: socket }
  const folders = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')]
  const files = ['--pidfile', join(folder, 'pid'), '--host', `unix://${socket}`]
  const rules = ['--iptables=false', '--ip6tables=false', '--bridge=none']
  const server = spawn('dockerd', [...folders, ...files, ...rules], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaints = ''
  server.stderr.on('data', (chunk) => {
    complaints = `${complaints}${chunk}`.slice(-4000)
  })
  const end = (): Promise<void> => endEngine(server, target, { folder, network })
  try {
    await answers(target, server)
  } catch (cause) {
    await end()
    return `${cannotStart}: ${String(cause)} ${complaints}`.trim()
  }
  await using starting = new AsyncDisposableStack()
  starting.defer(end)
  await importBusybox(target)
  await using client = new DockerClient(target)
  const body = { Name: network, Driver: 'bridge' }
  await client.json({ method: 'POST', path: '/networks/create', body, doing: 'make a network' })
  starting.move()
  return { target, network, [Symbol.asyncDispose]: end }
}
