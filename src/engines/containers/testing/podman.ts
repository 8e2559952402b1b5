/**
 * A throwaway Podman for tests: its own storage, its own socket, an image made from the machine's static
 * busybox, and settings that work where cgroups are hybrid and limits are capped (facts B.1). It touches no
 * container of anybody else and leaves nothing behind.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { DockerClient, type DockerTarget } from '../docker/client.ts'
import { writeTar } from '../docker/tar.ts'
import type { ContainerSpec, GroupSpec } from '../engine.ts'
import { type Json, listAt, textAt } from '../json.ts'

const run = promisify(execFile)

export const testImage = 'localhost/armature-test/busybox:1'

/** A group of one container that runs a command, of the test image if no other is given. */
export function webGroup(
  command: readonly string[],
  { image = testImage, mounts = [] }: Partial<Pick<ContainerSpec, 'image' | 'mounts'>> = {},
): GroupSpec {
  const web = { name: 'web', init: false, image, command, environment: [], mounts }
  const parts = [{ ...web, limits: {} }]
  return { hash: 'h1', restart: 'never', parts, volumes: [], ports: [] }
}

const install =
  'install podman, runc, catatonit and busybox-static (Debian: apt-get install --no-install-recommends)'

/** The tests' own search path, because only the settings may read `process.env`. */
export const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

const applets = 'sh sleep cat httpd wget echo ls nc stat id true false kill touch env hostname'

/**
 * A test that died cannot end its server, so an unused server ends by itself. The time is longer than a test file
 * may take, because command-line calls do not use the server.
 */
const idleSeconds = 900

export interface ThrowawayPodman extends AsyncDisposable {
  readonly target: DockerTarget
  /** The folder of the engine's storage, to prove that no secret is in it. */
  readonly folder: string
  /** Runs the command line on the same storage. A start of it costs more than a request. */
  podman(...words: readonly string[]): Promise<string>
  /** The ids of its containers and the names of its volumes, of whatever owner. */
  contents(): Promise<readonly string[]>
}

/** Undefined when Podman can be tried; otherwise why not, and how to install it. */
export async function whyNoPodman(): Promise<string | undefined> {
  try {
    await run('podman', ['--version'], { env: { PATH: searchPath } })
    await access('/bin/busybox')
  } catch {
    // Whatever keeps the command from running, the answer is how to install it.
    return `no throwaway Podman: ${install}`
  }
  return process.getuid?.() === 0
    ? undefined
    : 'the throwaway Podman has been made to work as root only'
}

/**
 * Starts Podman and proves that a container runs in it; returns the reason where that fails. `plainRegistry`: a
 * registry without TLS that it may pull from.
 */
export async function startPodman(
  options: { readonly plainRegistry?: string } = {},
): Promise<ThrowawayPodman | string> {
  const reason = await whyNoPodman()
  if (reason !== undefined) return reason
  const folder = await mkdtemp(join(tmpdir(), 'armature-podman-'))
  const settings = join(folder, 'containers.conf')
  await writeFile(settings, await settingsText())
  const registries = join(folder, 'registries.conf')
  const { plainRegistry } = options
  await writeFile(
    registries,
    plainRegistry === undefined
      ? ''
      : `[[registry]]\nlocation = "${plainRegistry}"\ninsecure = true\n`,
  )
  const environment = {
    PATH: `${await withoutPackages(folder)}:${searchPath}`,
    HOME: folder,
    CONTAINERS_CONF: settings,
    CONTAINERS_REGISTRIES_CONF: registries,
    // Where a sign-in to a registry lies.
    ...(plainRegistry === undefined ? {} : { XDG_RUNTIME_DIR: folder }),
  }
  const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'runroot')]
  const socket = join(folder, 'podman.sock')
  const server = spawn(
    'podman',
    [...storage, 'system', 'service', `--time=${idleSeconds}`, `unix://${socket}`],
    // Container monitors leave a file in their working folder.
    { cwd: folder, env: environment, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let complaints = ''
  server.stderr.on('data', (chunk) => {
    complaints = `${complaints}${chunk}`.slice(-4000)
  })
  const target: DockerTarget = { kind: 'socket', path: socket }
  const podman = async (...words: readonly string[]): Promise<string> =>
    (await run('podman', [...storage, ...words], { cwd: folder, env: environment })).stdout
  const started: ThrowawayPodman = {
    target,
    folder,
    podman,
    contents: () => contentsOf(target),
    [Symbol.asyncDispose]: () => endEngine(server, target, { folder }),
  }
  try {
    await answers(target, server)
    await importBusybox(target)
    await podman('run', '--rm', '--network=none', testImage, 'true')
    return started
  } catch (cause) {
    // When no container can start, the caller skips with this reason.
    await started[Symbol.asyncDispose]()
    return `no container can start in Podman here: ${String(cause)} ${complaints}`.trim()
  }
}

/**
 * Whenever it tells its version, Podman looks up on Debian which packages its helpers are of. That takes a third of a second
 * of a processor for each helper.
 */
async function withoutPackages(folder: string): Promise<string> {
  const programs = join(folder, 'programs')
  await mkdir(programs)
  await writeFile(join(programs, 'dpkg-query'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  return programs
}

async function settingsText(): Promise<string> {
  const limits = await readFile('/proc/self/limits', 'utf8')
  const files = /^Max open files\s+\d+\s+(\d+)/m.exec(limits)?.[1] ?? '1024'
  const runc = ['/usr/sbin/runc', '/usr/bin/runc']
  const found = await Promise.all(
    runc.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  )
  return [
    '[containers]',
    `default_ulimits = ["nofile=${files}:${files}","nproc=4096:4096"]`,
    '[engine]',
    ...(found.includes(true) ? ['runtime = "runc"'] : []),
    'cgroup_manager = "cgroupfs"',
    'events_logger = "file"',
    '',
  ].join('\n')
}

const answerAttemptsMax = 4_000
const answerWaitMs = 50

export async function answers(target: DockerTarget, server: ChildProcess): Promise<void> {
  await using client = new DockerClient(target)
  for (let attempt = 0; ; attempt++) {
    try {
      await client.json({ method: 'GET', path: '/_ping', doing: 'wait for Podman' })
      return
    } catch (error) {
      // It does not listen yet, or never will.
      if (attempt >= answerAttemptsMax || server.exitCode !== null) throw error
      await sleep(answerWaitMs)
    }
  }
}

export async function importBusybox(target: DockerTarget): Promise<void> {
  const busybox = await readFile('/bin/busybox')
  const links = applets.split(' ').map((name) => ({
    name: `bin/${name}`,
    mode: 0o755,
    bytes: Buffer.from(name === 'sh' ? '' : `#!/bin/busybox sh\nexec /bin/busybox ${name} "$@"\n`),
  }))
  const root = writeTar([
    { name: 'bin/', mode: 0o755 },
    { name: 'tmp/', mode: 0o1777 },
    { name: 'etc/', mode: 0o755 },
    { name: 'bin/busybox', mode: 0o755, bytes: busybox },
    ...links.filter((link) => link.name !== 'bin/sh'),
    { name: 'bin/sh', mode: 0o755, bytes: busybox },
  ])
  await using client = new DockerClient(target)
  const query = new URLSearchParams({ fromSrc: '-', repo: testImage })
  query.append('changes', 'ENV PATH=/bin')
  query.append('changes', 'CMD ["/bin/sh"]')
  await client.json({
    method: 'POST',
    path: `/images/create?${query}`,
    upload: (async function* () {
      yield root
    })(),
    doing: 'import busybox',
  })
}

async function contentsOf(target: DockerTarget): Promise<readonly string[]> {
  await using client = new DockerClient(target)
  const get = (path: string): Promise<Json> => client.json({ method: 'GET', path, doing: 'list' })
  const [containers, volumes] = await Promise.all([get('/containers/json?all=1'), get('/volumes')])
  return [
    ...listAt(containers).map((each) => textAt(each, 'Id')),
    ...listAt(volumes, 'Volumes').map((each) => textAt(each, 'Name')),
  ]
}

/** Ends an engine of a test with its containers, its network and its folder. */
export async function endEngine(
  server: ChildProcess,
  target: DockerTarget,
  { folder, network }: { readonly folder: string; readonly network?: string },
): Promise<void> {
  await using client = new DockerClient(target)
  const ids: string[] = []
  try {
    const path = '/containers/json?all=1'
    const containers = await client.json({ method: 'GET', path, doing: 'list' })
    ids.push(...listAt(containers).map((each) => textAt(each, 'Id')))
    // Containers that joined another's network first: the others cannot be removed before.
    for (const attempt of [1, 2]) {
      for (const id of ids) {
        for (const call of [
          { method: 'POST', path: `/containers/${id}/stop?t=0` },
          { method: 'DELETE', path: `/containers/${id}?force=1&v=1` },
        ] as const) {
          await client.json({ ...call, doing: `clean, round ${attempt}` }).catch(() => {})
        }
      }
    }
    if (network !== undefined) {
      await client.json({ method: 'DELETE', path: `/networks/${network}`, doing: 'clean' })
    }
  } catch {
    // A server that never answered made no containers.
  }
  if (server.exitCode === null && server.signalCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGTERM')
    await ended
  }
  await endMonitors(folder)
  await endRules(ids)
  // A program of Podman that cleans up after a container may be at it still, and mounts or writes something anew.
  for (let attempt = 0; ; attempt++) {
    try {
      await unmountAll(folder)
      await rm(folder, { recursive: true, force: true })
      return
    } catch (error) {
      if (attempt >= removeAttemptsMax) throw error
      await sleep(answerWaitMs)
    }
  }
}

const removeAttemptsMax = 600

async function unmountAll(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((mount) => mount.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)
  for (const mount of mounts) await run('umount', ['-l', mount], { env: { PATH: searchPath } })
}

/** Monitors of execs outlive their container for a while, and would recreate the folder. */
async function endMonitors(folder: string): Promise<void> {
  for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    // A process that has just ended has no command line any more.
    const words = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    if (!/^\S*conmon\0/.test(words) || !words.includes(`\0${folder}/`)) continue
    try {
      process.kill(Number(id), 'SIGKILL')
    } catch {
      // It has ended by itself, as intended.
    }
  }
}

/**
 * When several Podmans change the network rules at once, one may fail to remove its own. Such a rule would redirect
 * the connections of whoever gets that port next.
 */
async function endRules(ids: readonly string[]): Promise<void> {
  const env = { PATH: searchPath }
  const saved = await run('iptables-save', ['-t', 'nat'], { env }).catch(() => ({ stdout: '' }))
  const left = saved.stdout
    .split('\n')
    .filter((line) => line.startsWith('-A ') && ids.some((id) => line.includes(id)))
  if (left.length === 0) return
  const lines = ['*nat', ...left.map((line) => line.replace('-A', '-D')), 'COMMIT', '']
  const restore = run('iptables-restore', ['--noflush'], { env })
  restore.child.stdin?.end(lines.join('\n'))
  await restore
}
