/**
 * Images and programs that make the engine do something on its host, or hold it for everybody: what is asked of Podman keeps
 * it from that, and a container that could is not started.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import { EngineError, type GroupSpec } from '../engine.ts'
import { listAt, parseJson } from '../json.ts'
import { archived, built, engineOfTests, hostileImage } from '../testing/engine-of-tests.ts'
import { startPodman, type ThrowawayPodman, testImage, webGroup } from '../testing/podman.ts'
import { DockerClient } from './client.ts'
import { DockerEngine } from './docker-engine.ts'
import { annotationsProblem, inspectImage } from './inspect-image.ts'

const run = promisify(execFile)

const tests = engineOfTests(startPodman, requireOrSkip)
const onPodman = tests.onEngine

const engineOf = ({ target }: ThrowawayPodman) =>
  new DockerEngine({ target, installation: 'images' })

/** An image of these files, which `fill` makes, with changes as a Containerfile has them. */
async function imported(
  name: string,
  fill: (root: string) => Promise<unknown>,
  changes: readonly string[] = [],
): Promise<string> {
  const image = hostileImage(name)
  const tar = await archived(tests.folder(), name, fill)
  const given = ['CMD ["/bin/x"]', ...changes].flatMap((change) => ['--change', change])
  await tests.started().podman('import', ...given, tar, image)
  return image
}

async function withBusybox(root: string): Promise<void> {
  await mkdir(join(root, 'bin'))
  await copyFile('/bin/busybox', join(root, 'bin/busybox'))
}

async function refused(group: string, image: string, message: RegExp): Promise<void> {
  await using engine = engineOf(tests.started())
  const spec = webGroup([], { image })
  const started = async () => {
    await engine.pull(image)
    await engine.create(group, spec)
    await engine.start(group, spec, ['web'])
  }
  await assert.rejects(started, { name: 'EngineError', kind: 'refused', message })
  await engine.remove(group)
  assert.deepEqual(await tests.started().contents(), [])
}

async function exitCode({ podman: call }: ThrowawayPodman, group: string): Promise<number> {
  return Number(await call('wait', `armature_images_${group}_part_web`))
}

/** Why a command was refused; undefined while it is not. */
async function refusedCommand(engine: DockerEngine, group: string): Promise<string | undefined> {
  const [outcome] = await Promise.allSettled([engine.exec(group, 'web', { command: ['true'] })])
  if (outcome.status === 'rejected') return String(outcome.reason)
  await outcome.value[Symbol.asyncDispose]()
  return undefined
}

describe('hostile images on Podman', () => {
  onPodman('annotations that a runtime acts on', async ({ target, podman: call }) => {
    await using client = new DockerClient(target)
    await using engine = new DockerEngine({ target, installation: 'images' })
    const file = join(tests.folder(), 'Containerfile')
    await writeFile(file, 'FROM localhost/armature-test/busybox:1\n')
    for (const name of ['org.systemd.property.SuccessAction', 'run.oci.x', 'bundle']) {
      const image = 'localhost/armature-hostile/annotated:1'
      await call('build', '--annotation', `${name}=x`, '-t', image, '-f', file, tests.folder())
      const looked = inspectImage(client, image, { api: 'libpod', doing: 'inspect' })
      await assert.rejects(looked, { kind: 'refused', message: /annotation/ })
      // It is pulled again, by the group's own reference.
      assert.equal((await engine.observe('annotated', [image])).imagesPresent.has(image), false)
      // Somebody pulled it in the moment after the look.
      await engine.create('annotated', webGroup([], { image }))
      const start = engine.start('annotated', webGroup([], { image }), ['web'])
      await assert.rejects(start, { kind: 'busy', message: /has changed: it has the annotation/ })
      assert.equal((await engine.observe('annotated')).empty, true)
    }
  })

  onPodman('annotations that the image had when its container was made', async (started) => {
    const { podman: call } = started
    await using engine = engineOf(started)
    const image = await built(tests, 'earlier', [], ['--annotation', 'run.oci.x=x'])
    const kept = join(tests.folder(), 'earlier')
    await call('push', image, `dir:${kept}`)
    await engine.create('earlier', webGroup([], { image }))
    // Somebody pulls the same image without them.
    const manifest = JSON.parse(await readFile(join(kept, 'manifest.json'), 'utf8'))
    assert.deepEqual(Object.keys(manifest.annotations).includes('run.oci.x'), true)
    await writeFile(join(kept, 'manifest.json'), JSON.stringify({ ...manifest, annotations: {} }))
    await call('pull', `dir:${kept}`)
    assert.ok((await engine.observe('earlier', [image])).imagesPresent.has(image))
    const start = engine.start('earlier', webGroup([], { image }), ['web'])
    await assert.rejects(start, { kind: 'busy', message: /has changed: it has the annotation/ })
    assert.deepEqual(await started.contents(), [])
  })

  test('which annotations are acted on', () => {
    const harmless = [
      'org.opencontainers.image.title',
      'com.example.team',
      'dev.example.x',
      'iox.y',
    ]
    const problemOf = (names: readonly string[]) =>
      annotationsProblem({ Annotations: Object.fromEntries(names.map((name) => [name, ''])) })
    assert.equal(problemOf(harmless), undefined)
    for (const name of [
      'io.kubernetes.cri-o.x',
      'io.podman.annotations.x',
      'cdi.k8s.io/gpu',
      'x',
    ]) {
      assert.match(problemOf([...harmless, name]) ?? '', new RegExp(name))
    }
  })

  onPodman(
    'volumes: too many, or where the engine fills folders; none is made without a name',
    async (started) => {
      await using client = new DockerClient(started.target)
      const many = Array.from({ length: 33 }, (_, at) => `VOLUME /v${at}`)
      for (const [name, changes, message] of [
        ['many', many, /more than 32 volumes/],
        ['dev', ['VOLUME /dev'], /a volume at "\/dev"/],
      ] as const) {
        const image = await imported(name, async () => {}, changes)
        const looked = inspectImage(client, image, { api: 'libpod', doing: 'inspect' })
        await assert.rejects(looked, { kind: 'refused', message })
      }
      const { podman: call, contents } = started
      const file = join(tests.folder(), 'Volumes')
      const image = 'localhost/armature-hostile/few:1'
      await writeFile(file, 'FROM localhost/armature-test/busybox:1\nVOLUME /a\nVOLUME /b\n')
      await call('build', '-t', image, '-f', file, tests.folder())
      await using engine = engineOf(started)
      await engine.create('few', webGroup([], { image }))
      await engine.start('few', webGroup([], { image }), ['web'])
      // Two containers, and the volume with copies of their accounts.
      assert.equal((await contents()).length, 3)
      await engine.remove('few')
    },
  )

  onPodman(
    'accounts that are a pipe: the engine would wait for them, and hold each list',
    async () => {
      const pipe = (root: string) => run('mkfifo', [join(root, 'etc/passwd')])
      await refused('pipe', await imported('pipe', pipe), /passwd is no plain file/)
      const linked = async (root: string) => {
        await run('mkfifo', [join(root, 'pipe')])
        await symlink('/pipe', join(root, 'etc/group'))
      }
      await refused('linked', await imported('linked', linked), /group is no plain file/)
      // Podman opens one to read the other out of a container.
      const beside = async (root: string) => {
        await pipe(root)
        await writeFile(join(root, 'etc/group'), 'root:x:0:\n')
      }
      await refused('beside', await imported('beside', beside), /passwd is no plain file/)
      const named = async (root: string) => {
        await run('mkfifo', [join(root, 'etc/group')])
        await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/:\napp:x:7:7::/:\n')
      }
      const image = await imported('named', named, ['USER app:staff'])
      await refused('named', image, /group is no plain file/)
    },
  )

  onPodman('a share in the place of the accounts', async (started) => {
    await using engine = engineOf(started)
    for (const path of ['/etc', '/etc/', '/etc/passwd']) {
      const volumes = [{ kind: 'host', name: 'share', folder: tests.folder() }] as const
      const spec = {
        ...webGroup(['true'], { mounts: [{ volume: 'share', path, readOnly: false }] }),
        volumes,
      }
      const made = engine.create('share', spec)
      await assert.rejects(made, { kind: 'refused', message: /mounts a volume at/ })
    }
    assert.deepEqual(await started.contents(), [])
  })

  onPodman('a working folder behind a link is not made on the host', async () => {
    const outside = `../../../../../../../../..${tests.folder()}`
    for (const [name, link] of Object.entries({ link: 'data', pattern: 'd[a]ta' })) {
      const image = await imported(name, (root) => symlink(outside, join(root, link)), [
        `WORKDIR /${link}/made/here`,
      ])
      await refused(name, image, /working folder|workdir/)
      assert.equal(existsSync(join(tests.folder(), 'made')), false)
    }
  })

  onPodman(
    'a working folder that is not in the image is made in the container',
    async (started) => {
      const image = await built(tests, 'elsewhere', ['WORKDIR /there/it/is'])
      await started.podman('run', '--name', 'bare', image, 'sh', '-c', 'rmdir /there/it/is')
      const bare = 'localhost/armature-hostile/bare:1'
      await started.podman('commit', '-q', 'bare', bare)
      await started.podman('rm', 'bare')
      await using engine = engineOf(started)
      const spec = webGroup(['sh', '-c', 'test $PWD = /there/it/is'], { image: bare })
      await engine.create('made', spec)
      await engine.start('made', spec, ['web'])
      assert.equal(await exitCode(started, 'made'), 0)
      await engine.remove('made')
    },
  )

  onPodman(
    'a program that exchanges its working folder: it is looked at when it has ended',
    async (started) => {
      const outside = join(tests.folder(), 'outside')
      await mkdir(outside)
      const image = await built(tests, 'worked', ['WORKDIR /job/x'])
      const link = `../../../../../../../../..${outside}`
      await using engine = engineOf(started)
      const change = `mv /job /gone; busybox ln -s ${link} /job`
      const program = `trap '${change}; exit' TERM; touch /ready; while true; do sleep 0.1; done`
      const spec = webGroup(['sh', '-c', program], { image })
      await engine.create('folder', spec)
      await engine.start('folder', spec, ['web'])
      const list = ['exec', 'armature_images_folder_part_web', 'busybox', 'ls', '/']
      await until(async () => (await started.podman(...list)).includes('ready'))
      const restarted = engine.restart('folder', 'web', { startedAt: Date.now(), graceSeconds: 5 })
      await assert.rejects(restarted, { name: 'EngineError', kind: 'refused' })
      assert.equal(existsSync(join(outside, 'x')), false)
      await engine.remove('folder')
      assert.deepEqual(await started.contents(), [])
    },
  )

  onPodman('accounts of an image that are longer than any are not read', async () => {
    const long = (root: string) => run('truncate', ['-s', '2M', join(root, 'etc/passwd')])
    await refused('long', await imported('long', long), /passwd has more than 1 MB/)
  })

  onPodman('a program cannot exchange its accounts, nor what lies below them', async (started) => {
    await using engine = engineOf(started)
    const changes = [
      'busybox rm -f /etc/passwd; busybox mkfifo /etc/passwd',
      'busybox truncate -s 20M /etc/group',
      'echo x >> /etc/passwd',
      'busybox mv /etc /gone; busybox mkdir /etc; busybox mkfifo /etc/passwd /etc/group',
      'busybox mount --bind /proc/kmsg /etc/passwd',
    ]
    for (const change of changes) {
      const spec = webGroup(['sh', '-c', `${change}; echo tried; exec sleep 3600`])
      await engine.create('late', spec)
      await engine.start('late', spec, ['web'])
      const written = () => started.podman('logs', 'armature_images_late_part_web')
      await until(async () => (await written()).includes('tried'))
      assert.equal(await refusedCommand(engine, 'late'), undefined, change)
      await engine.restart('late', 'web', { startedAt: Date.now(), graceSeconds: 0 })
      assert.equal((await started.contents()).length, 3)
      await engine.remove('late')
    }
    assert.deepEqual(await started.contents(), [])
  })

  onPodman(
    'a program cannot move the folder of its accounts, nor exchange a link',
    async (started) => {
      await using engine = engineOf(started)
      const bare = async (root: string) => {
        await withBusybox(root)
        await rm(join(root, 'etc'), { recursive: true })
      }
      const links = async (root: string) => {
        await withBusybox(root)
        for (const name of ['passwd', 'group']) {
          await mkdir(join(root, 'a/b/c'), { recursive: true })
          await writeFile(join(root, 'a/b/c', name), '')
          await symlink(`/a/b/c/${name}`, join(root, 'etc', name))
        }
      }
      const pipes = 'cd /etc; /bin/busybox rm passwd group; /bin/busybox mkfifo passwd group'
      const moved = `/bin/busybox mv /etc /gone; /bin/busybox mkdir /etc; ${pipes}`
      const volume = `cd /a/b/c; /bin/busybox mkfifo passwd group; ${pipes}`
      for (const [name, fill, change] of [
        ['etcless', bare, moved],
        ['links', links, volume],
      ] as const) {
        const image = await imported(name, fill)
        const mounts = [{ volume: 'empty', path: '/a/b/c', readOnly: false }]
        const program = `${change}; echo tried; exec /bin/busybox sleep 3600`
        const spec = {
          ...webGroup(['/bin/busybox', 'sh', '-c', program], { image, mounts }),
          volumes: [{ kind: 'empty', name: 'empty' }] as const,
        }
        await engine.create(name, spec)
        await engine.start(name, spec, ['web'])
        const written = () => started.podman('logs', `armature_images_${name}_part_web`)
        await until(async () => (await written()).includes('tried'))
        for (const _ of ['before a restart', 'after it']) {
          const session = await engine.exec(name, 'web', { command: ['/bin/busybox', 'true'] })
          assert.equal(await session.exitCode(), 0)
          await session[Symbol.asyncDispose]()
          await engine.restart(name, 'web', { startedAt: Date.now(), graceSeconds: 0 })
        }
        await engine.remove(name)
      }
      assert.deepEqual(await started.contents(), [])
    },
  )

  onPodman('an image whose name is given to another one meanwhile', async (started) => {
    await using client = new DockerClient(started.target)
    await using engine = engineOf(started)
    const without = async (root: string) => {
      await withBusybox(root)
      await rm(join(root, 'etc'), { recursive: true })
    }
    const images = [await imported('with', withBusybox), await imported('without', without)]
    const query = { repo: 'localhost/armature-hostile/moving', tag: '1' }
    const spec = webGroup([], { image: `${query.repo}:1` })
    const move = async (image = '') => {
      const path = `/images/${image}/tag`
      await client.json({ method: 'POST', path, query, doing: 'tag' })
    }
    await move(images[0])
    for (const group of ['m1', 'm2', 'm3', 'm4', 'm5', 'm6']) {
      let isMade = false
      const made = engine.create(group, spec).finally(() => {
        isMade = true
      })
      for (let at = 0; !isMade; at++) await move(images[at % 2])
      await made
      const format = '{{.Image}} {{.HostConfig.Tmpfs}}'
      const name = `armature_images_${group}_part_web`
      const [id = '', ...memory] = (
        await started.podman('inspect', '--format', format, name)
      ).split(' ')
      const isWith = (await started.podman('image', 'inspect', images[0] ?? '')).includes(id)
      assert.equal(memory.join(' ').includes('/etc'), !isWith)
      await engine.remove(group)
    }
  })

  onPodman('accounts of an image with many lines, or in a folder that is a link', async () => {
    const many = (root: string) => writeFile(join(root, 'etc/group'), ':x:1:a\n'.repeat(2001))
    await refused('many', await imported('many', many), /group has more than 2000 lines/)
    const parent = async (root: string) => {
      await rename(join(root, 'etc'), join(root, 'real'))
      await symlink('real', join(root, 'etc'))
    }
    await refused('parent', await imported('parent', parent), /etc is no folder/)
  })

  onPodman('programs know the users of their image, also behind links', async (started) => {
    const users = 'root:x:0:0::/:\napp:x:1234:1234::/home/app:\n'
    const plain = async (root: string) => {
      await withBusybox(root)
      await writeFile(join(root, 'etc/passwd'), users)
    }
    // In the container a volume with a pipe lies over what the link leads to.
    const leaf = async (root: string) => {
      await plain(root)
      await mkdir(join(root, 'under'))
      await rename(join(root, 'etc/passwd'), join(root, 'under/passwd'))
      await symlink('/under/passwd', join(root, 'etc/passwd'))
    }
    await using engine = engineOf(started)
    for (const [name, fill] of Object.entries({ plain, leaf })) {
      const image = await imported(name, fill, ['USER app'])
      const mounts = [{ volume: 'empty', path: '/under', readOnly: false }]
      const test = '[ "$(/bin/busybox whoami) $HOME" = "app /home/app" ]'
      const program = `/bin/busybox mkfifo /under/passwd; ${test} && exec /bin/busybox sleep 3600`
      const spec = {
        ...webGroup(['/bin/busybox', 'sh', '-c', program], { image, mounts }),
        volumes: [{ kind: 'empty', name: 'empty' }] as const,
      }
      await engine.create(name, spec)
      await engine.start(name, spec, ['web'])
      const command = ['/bin/busybox', 'sh', '-c', test]
      const session = await engine.exec(name, 'web', { command })
      assert.equal(await session.exitCode(), 0, name)
      await session[Symbol.asyncDispose]()
      await engine.remove(name)
    }
  })

  onPodman('a container of an earlier version, without copies of accounts', async (started) => {
    const labels = { installation: 'images', group: 'old', hash: 'unstarted', part: 'web' }
    const given = Object.entries(labels).flatMap(([name, value]) => [
      '--label',
      `armature.${name}=${value}`,
    ])
    const container = ['--name', 'armature_images_old_part_web', testImage, 'sleep', '3600']
    await started.podman('run', '-d', '--network=none', ...given, ...container)
    await using engine = engineOf(started)
    assert.match((await refusedCommand(engine, 'old')) ?? '', /earlier version/)
    // The same is left by an attempt that ended while it read accounts, with a hash of no group.
    const made = engine.create('old', webGroup([]))
    await assert.rejects(made, { kind: 'busy', message: /earlier version/ })
    await engine.restart('old', 'web', { startedAt: Date.now(), graceSeconds: 0 })
    assert.deepEqual(await started.contents(), [])
  })

  onPodman('a group of an earlier version that was not started to its end', async (started) => {
    await using engine = engineOf(started)
    const labels = { installation: 'images', group: 'half', hash: 'h1' }
    const given = Object.entries(labels).flatMap(([name, value]) => [
      '--label',
      `armature.${name}=${value}`,
    ])
    const made = ['create', '--network=none', ...given]
    const part = ['--label', 'armature.part=web', '--name', 'armature_images_half_part_web']
    const sandbox = ['--name', 'armature_images_half', testImage, 'true']
    const remade = { kind: 'busy', message: /is made anew/ }
    await started.podman(...made, ...sandbox)
    await assert.rejects(engine.create('half', webGroup([])), remade)
    await started.podman(...made, ...sandbox)
    await started.podman(...made, ...part, testImage, 'true')
    await assert.rejects(engine.start('half', webGroup([]), ['web']), remade)
    assert.deepEqual(await started.contents(), [])
  })

  onPodman('a group that was begun with another host port', async (started) => {
    await using engine = engineOf(started)
    const publish = { address: '127.0.0.1' }
    const at = (port: object): GroupSpec => ({
      ...webGroup(['sleep', '1000']),
      ports: [{ port: 8080, protocol: 'tcp', publish: { ...publish, ...port } }],
    })
    const [web] = at({}).parts
    assert.ok(web !== undefined)
    const lost = { ...at({}), parts: [{ ...web, image: 'localhost/none:1' }] }
    await assert.rejects(engine.create('port', lost))
    const wanted = at({ port: 28_080 })
    await assert.rejects(engine.create('port', wanted), (error: unknown) => {
      assert.ok(error instanceof EngineError)
      assert.deepEqual([error.kind, /made anew/.test(error.message)], ['busy', true])
      assert.match(String(error.cause), /port 8080\/tcp is published otherwise/)
      return true
    })
    await engine.create('port', wanted)
    await engine.remove('port')
    assert.deepEqual(await started.contents(), [])
  })

  onPodman('paths that the engine takes for patterns are not looked at', async (started) => {
    const read = async (root: string) => {
      await mkdir(join(root, 'x'))
      await writeFile(join(root, 'x/a'), '')
      await run('truncate', ['-s', '2M', join(root, 'x/[a]')])
      await symlink('/x/[a]', join(root, 'etc/passwd'))
    }
    await refused('read', await imported('read', read), /passwd leads to a path/)
    // The look at this one says that nothing is there.
    const unsaid = `name="$(printf '\\377')"; mkfifo "$name"; ln -s "/$name" etc/passwd; : > etc/group`
    const bytes = (root: string) => run('sh', ['-c', unsaid], { cwd: root })
    await refused('bytes', await imported('bytes', bytes), /passwd leads to a path/)
    const kept = async (root: string) => {
      await withBusybox(root)
      await mkdir(join(root, '[j]ob'))
      await chown(join(root, '[j]ob'), 1000, 1000)
    }
    const image = await imported('kept', kept, ['WORKDIR /[j]ob'])
    await using engine = engineOf(started)
    const program = '[ "$(busybox stat -c %u .)" = 1000 ]'
    const spec = webGroup(['/bin/busybox', 'sh', '-c', program], { image })
    await engine.create('kept', spec)
    await engine.start('kept', spec, ['web'])
    assert.equal(await exitCode(started, 'kept'), 0)
    await engine.remove('kept')
  })

  onPodman(
    'files that the engine keeps in memory and reads are not written to',
    async (started) => {
      await using engine = engineOf(started)
      const files = '/etc/hosts /etc/resolv.conf /etc/hostname /run/.containerenv'
      const program = `for file in ${files}; do test -f $file || exit 2; echo x >> $file && exit 1; done; busybox grep -q group /etc/hosts`
      const spec = { ...webGroup(['sh', '-c', program]), hostname: 'group' }
      await engine.create('files', spec)
      await engine.start('files', spec, ['web'])
      assert.equal(await exitCode(started, 'files'), 0)
      await engine.remove('files')
    },
  )

  onPodman(
    'a command named init gets no control groups of the host, and no check of the image runs',
    async (started) => {
      const { podman: call } = started
      await using engine = engineOf(started)
      await engine.create('init', webGroup(['/sbin/init']))
      const [id = ''] = (await call('ps', '-aq', '--filter', 'label=armature.part=web')).split('\n')
      const [found] = listAt(parseJson(await call('inspect', id)))
      const config = (found as { readonly Config: Readonly<Record<string, unknown>> }).Config
      assert.notEqual(config['SystemdMode'], true)
      assert.deepEqual((config['Healthcheck'] as { readonly Test?: unknown }).Test, ['NONE'])
      assert.match(JSON.stringify(config['Labels']), /"io.containers.autoupdate":"disabled"/)
      await engine.remove('init')
    },
  )
})
