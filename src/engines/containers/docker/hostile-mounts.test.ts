/** Mounts and programs by which a container on Podman would reach the accounts that the engine and the runtime open with its lock. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import type { GroupSpec } from '../engine.ts'
import { built, engineOfTests } from '../testing/engine-of-tests.ts'
import { startPodman, type ThrowawayPodman, testImage, webGroup } from '../testing/podman.ts'
import { DockerEngine } from './docker-engine.ts'
import { pauseProgram } from './pause-image.ts'

const notImplemented = 38
const tests = engineOfTests(startPodman, requireOrSkip)

function onPodman(
  name: string,
  body: (engine: DockerEngine, started: ThrowawayPodman) => Promise<void>,
): void {
  tests.onEngine(name, async (podman) => {
    await using engine = new DockerEngine({ target: podman.target, installation: 'mounts' })
    await body(engine, podman)
    assert.deepEqual(await podman.contents(), [])
  })
}

/** A group of one container with an empty volume at each of these paths. */
function mounted(
  command: readonly string[],
  paths: readonly string[],
  image = testImage,
): GroupSpec {
  const mounts = paths.map((path, at) => ({ volume: `v${at}`, path, readOnly: false }))
  const volumes = paths.map((_, at) => ({ kind: 'empty', name: `v${at}` }) as const)
  return { ...webGroup(command, { image, mounts }), volumes }
}

async function exitCode({ podman: call }: ThrowawayPodman, group: string): Promise<number> {
  return Number(await call('wait', `armature_mounts_${group}_part_web`))
}

onPodman('a link of an image leads no volume to the accounts, nor into another', async (engine) => {
  const links = 'busybox mkdir -p /x/z && busybox ln -s / /x/y && busybox ln -s /etc /e'
  const more = 'busybox ln -s /v /x/v && busybox ln -s /proc /p'
  const image = await built(tests, 'links', [`RUN ${links} && ${more}`])
  for (const paths of [
    ['/x/y/etc'],
    ['/x/y/etc/passwd'],
    ['/e'],
    ['/p/x'],
    ['/x/y'],
    ['/x/v/w', '/v'],
    ['/x/v/w', '/v/w/z/etc'],
    ['/[e]'],
  ]) {
    const made = engine.create('links', mounted(['true'], paths, image))
    await assert.rejects(made, { kind: 'refused', message: /may not be mounted/ }, String(paths))
  }
})

onPodman(
  'a link of an image may lead a volume to where it is not in the way',
  async (engine, started) => {
    const image = await built(tests, 'run', [
      'RUN busybox mkdir -p /run /var && busybox ln -s /run /var/run',
    ])
    const spec = mounted(['sh', '-c', 'echo x > /run/secrets/x'], ['/var/run/secrets'], image)
    await engine.create('run', spec)
    await engine.start('run', spec, ['web'])
    assert.equal(await exitCode(started, 'run'), 0)
    await engine.remove('run')
  },
)

const folders = 'busybox mv /a /gone; busybox mkdir -p /a'
for (const change of [
  `${folders}; busybox ln -s / /a/b`,
  `${folders}/b; busybox ln -s /etc /a/b/etc`,
]) {
  onPodman(`a program leads its volume nowhere else: ${change}`, async (engine, started) => {
    const spec = mounted(['sh', '-c', `busybox mkfifo /a/b/etc/passwd; ${change}`], ['/a/b/etc'])
    await engine.create('moved', spec)
    await engine.start('moved', spec, ['web'])
    assert.equal(await exitCode(started, 'moved'), 0)
    const restarted = engine.restart('moved', 'web', { startedAt: Date.now(), graceSeconds: 0 })
    await assert.rejects(restarted, { kind: 'refused', message: /may not be mounted/ })
    await engine.remove('moved')
  })
}

onPodman('a container with a volume is started again', async (engine, started) => {
  const spec = mounted(['true'], ['/a/b', '/data'])
  await engine.create('again', spec)
  await engine.start('again', spec, ['web'])
  assert.equal(await exitCode(started, 'again'), 0)
  await engine.restart('again', 'web', { startedAt: Date.now(), graceSeconds: 0 })
  assert.equal(await exitCode(started, 'again'), 0)
  await engine.remove('again')
})

onPodman('no volume is mounted inside one that programs write', async (engine) => {
  const nested = mounted(['true'], ['/data', '/data/in'])
  await assert.rejects(engine.create('in', nested), { kind: 'refused', message: /may have links/ })
})

onPodman(
  'a program makes no user namespace, in which it could remove its accounts',
  async (engine, started) => {
    const program = 'busybox unshare -n true; busybox unshare -U true && exit 1; (true) && exit 3'
    const spec = webGroup(['sh', '-c', program])
    await engine.create('user', spec)
    await engine.start('user', spec, ['web'])
    assert.equal(await exitCode(started, 'user'), 3)
    await engine.remove('user')
  },
)

/** An image with a program of these instructions, and bytes after them. */
async function programmed(name: string, code: string, after = ''): Promise<string> {
  const head = pauseProgram('amd64')?.subarray(0, 120)
  assert.ok(head !== undefined)
  const program = Buffer.concat([head, Buffer.from(code, 'hex'), Buffer.from(after)])
  for (const at of [96, 104]) program.writeBigUInt64LE(BigInt(program.length), at)
  await writeFile(join(tests.folder(), name), program, { mode: 0o755 })
  return built(tests, name, [`COPY ${name} /bin/${name}`])
}

onPodman(
  'a program takes no lease on its accounts, for which the engine would wait',
  async (engine, started) => {
    if (process.arch !== 'x64') return
    // open("/etc/passwd"), fcntl(F_SETLEASE, F_WRLCK), and its error as the exit code.
    const code =
      '488d3d2700000031f6b8020000000f0589c7be00040000ba01000000b8480000000f0589c7f7dfb83c0000000f05'
    const image = await programmed('lease', code, '/etc/passwd\0')
    const spec = webGroup(['/bin/lease'], { image })
    await engine.create('lease', spec)
    await engine.start('lease', spec, ['web'])
    assert.notEqual(await exitCode(started, 'lease'), 0)
    await engine.remove('lease')
  },
)

onPodman(
  'a program reaches no keys, which all users of the host share',
  async (engine, started) => {
    if (process.arch !== 'x64') return
    // keyctl(KEYCTL_READ, KEY_SPEC_USER_KEYRING, 0, 0), and its error as the exit code.
    const code = 'bf0b00000048c7c6fcffffff31d24531d2b8fa0000000f0589c7f7dfb83c0000000f05'
    const spec = webGroup(['/bin/keys'], { image: await programmed('keys', code) })
    await engine.create('keys', spec)
    await engine.start('keys', spec, ['web'])
    assert.equal(await exitCode(started, 'keys'), notImplemented)
    await engine.remove('keys')
  },
)

onPodman(
  'a program that holds the engine by a command hides no group of others',
  async (engine, started) => {
    const other = webGroup(['sleep', '1000'])
    await engine.create('other', other)
    await engine.start('other', other, ['web'])
    const spec = webGroup(['sh', '-c', 'while :; do kill -STOP -1; done 2>/dev/null'])
    await engine.create('stops', spec)
    await engine.start('stops', spec, ['web'])
    const form = ['--format', '{{.State.Pid}}', 'armature_mounts_stops_part_web']
    const pid = Number(await started.podman('inspect', ...form))
    const command = Promise.allSettled([engine.exec('stops', 'web', { command: ['true'] })])
    const isHeld = async (): Promise<boolean> => {
      const [stats] = await Promise.allSettled([engine.stats('stops')])
      return stats.status === 'rejected'
    }
    assert.ok(await until(isHeld))
    const groups = new Set((await engine.list()).map(({ group }) => group))
    assert.deepEqual(groups, new Set(['other', 'stops']))
    assert.equal((await engine.stats('other')).running.length, 1)
    // As after a restart of the server.
    await using later = new DockerEngine({ target: started.target, installation: 'mounts' })
    assert.match((await later.describe()).title, /^Podman \d/)
    await later.create('later', other)
    await later.start('later', other, ['web'])
    assert.ok(await isHeld())
    process.kill(pid, 'SIGKILL')
    await command
    for (const group of [...groups, 'later']) await engine.remove(group)
  },
)
