/** Images and programs that make a real Docker wait, or take its memory: they are refused, or reach nothing that it reads. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../../../tests/until.ts'
import { partOf } from '../contract/fixture.ts'
import { requireDocker, startDocker } from '../testing/docker.ts'
import { archived, engineOfTests, hostileImage } from '../testing/engine-of-tests.ts'
import { webGroup } from '../testing/podman.ts'
import { DockerClient } from './client.ts'
import { DockerEngine } from './docker-engine.ts'

const run = promisify(execFile)

const tests = engineOfTests(startDocker, requireDocker)

function onDocker(name: string, body: (engine: DockerEngine) => Promise<void>): void {
  tests.onEngine(name, async (docker) => {
    await using engine = new DockerEngine({ ...docker, installation: 'hostile' })
    await body(engine)
    assert.deepEqual(await engine.list(), [])
  })
}

/** An image of the files that `fill` makes. */
async function imported(
  name: string,
  fill: (root: string) => Promise<unknown>,
  changes = 'CMD ["/bin/x"]',
): Promise<string> {
  const image = hostileImage(name)
  const tar = await archived(tests.folder(), name, fill)
  await using client = new DockerClient(tests.started().target)
  await client.json({
    method: 'POST',
    path: '/images/create',
    query: { fromSrc: '-', repo: image, changes },
    upload: createReadStream(tar),
    doing: 'import',
  })
  return image
}

const changes = [
  'rm -f /etc/passwd; busybox mkfifo /etc/passwd',
  'busybox truncate -s 20M /etc/group',
  'echo x >> /etc/passwd; echo x >> /etc/hosts; echo x >> /etc/resolv.conf',
  'busybox mv /etc /gone; busybox mkdir /etc; busybox mkfifo /etc/passwd /etc/group',
]
/** Fails where Docker would read something else than the image has. */
const isAsBefore =
  'test -f /etc/passwd && test ! -s /etc/passwd && test ! -s /etc/group && ! busybox grep -q ^x /etc/hosts /etc/resolv.conf'

onDocker('a group gets no requests of others by its host name', async (engine) => {
  const look = 'hostname; busybox timeout 3 busybox nslookup db && echo found; echo end; sleep 3600'
  const hostname = 'db'
  for (const [group, command] of [
    ['one', 'sleep 3600'],
    ['two', look],
  ] as const) {
    const spec = { ...webGroup(['sh', '-c', command]), hostname }
    await engine.create(group, spec)
    await engine.start(group, spec, ['web'])
  }
  const textOf = async (): Promise<string> => {
    let text = ''
    for await (const bytes of engine.logs('two', 'web')) text += Buffer.from(bytes)
    return text
  }
  assert.ok(await until(async () => /^end$/m.test(await textOf()), 200))
  assert.match(await textOf(), /^db-two\n/)
  assert.doesNotMatch(await textOf(), /found/)
  for (const group of ['one', 'two']) await engine.remove(group)
})

for (const [at, change] of changes.entries()) {
  onDocker(`a program cannot exchange what Docker reads: ${change}`, async (engine) => {
    const group = `late-${at}`
    const spec = webGroup(['sh', '-c', `${change}; ${isAsBefore} && exit 3`])
    await engine.create(group, { ...spec, restart: 'always' })
    await engine.start(group, spec, ['web'])
    const ended = async () => {
      const { state } = partOf(await engine.observe(group), 'web')
      return state.kind === 'terminated' ? state : undefined
    }
    const first = await until(ended)
    assert.equal(first.exitCode, 3)
    await engine.restart(group, 'web', { startedAt: first.startedAt, graceSeconds: 0 })
    const second = await until(async () => {
      const state = await ended()
      return state !== undefined && state.startedAt > first.startedAt ? state : undefined
    })
    assert.equal(second.exitCode, 3)
    await engine.remove(group)
  })
}

onDocker('Docker restarts nothing itself, also when it is started again', async (engine) => {
  await using client = new DockerClient(tests.started().target)
  const spec = { ...webGroup(['true']), restart: 'always' } as const
  await engine.create('again', spec)
  const path = '/containers/armature_hostile_again_part_web/json'
  const found = await client.json({ method: 'GET', path, doing: 'inspect' })
  assert.match(JSON.stringify(found), /"RestartPolicy":\{"Name":"no"/)
  await engine.remove('again')
})

const images: readonly (readonly [string, (root: string) => Promise<unknown>, RegExp])[] = [
  ['pipe', (root) => run('mkfifo', [join(root, 'etc/passwd')]), /passwd is no plain file/],
  ['long', (root) => run('truncate', ['-s', '2M', join(root, 'etc/group')]), /group has more/],
  ['linked', (root) => symlink('/pipe', join(root, 'etc/group')), /group is a link/],
]
for (const [name, fill, message] of images) {
  onDocker(`accounts of an image that Docker would wait for: ${name}`, async (engine) => {
    const image = await imported(name, fill)
    await engine.pull(image)
    const made = engine.create(name, webGroup([], { image }))
    await assert.rejects(made, { name: 'EngineError', kind: 'refused', message })
  })
}

onDocker(
  'a link of an image leads no volume to the accounts, also none that it declares',
  async (engine) => {
    const linked = async (root: string) => {
      await mkdir(join(root, 'x'))
      await symlink('/', join(root, 'x/y'))
    }
    const message = /may not be mounted/
    const image = await imported('led', linked)
    const mounts = [{ volume: 'v', path: '/x/y/etc', readOnly: false }]
    const volumes = [{ kind: 'empty', name: 'v' }] as const
    const made = engine.create('led', { ...webGroup([], { image, mounts }), volumes })
    await assert.rejects(made, { kind: 'refused', message })
    const declared = await imported('declared', linked, 'VOLUME ["/x/y/etc"]')
    const other = engine.create('declared', webGroup([], { image: declared }))
    await assert.rejects(other, { kind: 'refused', message })
  },
)

onDocker('a program of an image without /etc cannot move what Docker reads', async (engine) => {
  const image = await imported('bare', async (root) => {
    await rm(join(root, 'etc'), { recursive: true })
    await mkdir(join(root, 'bin'))
    await copyFile('/bin/busybox', join(root, 'bin/busybox'))
  })
  const moved = 'busybox mv /etc /gone; busybox mkdir /etc; busybox mkfifo /etc/passwd /etc/group'
  const spec = webGroup(
    ['/bin/busybox', 'sh', '-c', `${moved}; busybox touch /tried; exec busybox sleep 3600`],
    { image },
  )
  await engine.create('bare', spec)
  await engine.start('bare', spec, ['web'])
  const code = async (command: readonly string[]) => {
    const session = await engine.exec('bare', 'web', { command })
    const exitCode = await session.exitCode()
    await session[Symbol.asyncDispose]()
    return exitCode
  }
  await until(async () => (await code(['/bin/busybox', 'test', '-f', '/tried'])) === 0)
  await engine.restart('bare', 'web', { startedAt: Date.now(), graceSeconds: 0 })
  assert.equal(await code(['/bin/busybox', 'true']), 0)
  await engine.remove('bare')
})
