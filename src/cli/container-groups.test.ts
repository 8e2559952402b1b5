/** The commands for container groups, and their demo, with the edge and the plane over a simulated engine. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStreams } from '#http/streams.ts'
import { constantPermissions } from '#http/testing/permissions.ts'
import { servePlane } from '#http/testing/serve-plane.ts'
import { silentLog } from '#kernel/ports.ts'
import { ids, startContainers, subscription } from '#providers/container-instance/testing/start.ts'
import { type Ran, runCli } from './testing/run-cli.ts'

interface Fixture extends AsyncDisposable {
  readonly url: string
  run(...words: string[]): Promise<Ran>
}

async function open(): Promise<Fixture> {
  const streams = createStreams({
    permissions: constantPermissions(),
    ids,
    clock: { now: () => Date.now() },
    log: silentLog,
    publicUrl: () => url,
  })
  const started = await startContainers({ streams })
  const server = await servePlane(started.plane, { clock: started.clock, ids, upgrades: [streams] })
  const { url } = server
  return {
    url,
    run: (...words) =>
      runCli([...words, '--subscription', subscription, '--url', url, '--token', 'any']),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await started[Symbol.asyncDispose]()
    },
  }
}

test('create, show, list, logs, stop, start, restart, delete', async () => {
  await using fixture = await open()
  const at = ['-g', 'demo']
  const script = 'ARMATURE_SIMULATE=log:hello'
  const made = await fixture.run(
    ...[
      'container-group',
      'create',
      'web',
      '--yes',
      ...at,
      '--image',
      'r.example/web:1',
      '--env',
      script,
    ],
    ...['--secure-env', 'TOKEN=hush', '--port', '8080', '--ip-address', 'Public'],
  )
  assert.equal(made.code, 0, made.error)
  assert.match(made.out, /state +Running/)
  assert.match(made.out, /container web +Running/)
  assert.match(made.out, /event Simulated/)
  assert.ok(!made.out.includes('hush'))
  const list = await fixture.run('container-group', 'list')
  assert.match(list.out, /web +\S+ +Succeeded +Always/)
  const logs = await fixture.run('container-group', 'logs', 'web', ...at, '--timestamps')
  assert.match(logs.out, /^\d{4}-.*hello/m)
  for (const [verb, state] of [
    ['stop', 'Stopped'],
    ['start', 'Running'],
    ['restart', 'Running'],
  ] as const) {
    const acted = await fixture.run('container-group', verb, 'web', ...at)
    assert.equal(acted.code, 0, acted.error)
    const shown = await fixture.run('container-group', 'show', 'web', ...at)
    assert.match(shown.out, new RegExp(`state +${state}`))
  }
  assert.equal((await fixture.run('container-group', 'delete', 'web', ...at)).code, 0)
  assert.match((await fixture.run('container-group', 'list')).error, /none/)
  const none = await fixture.run('container-group', 'show', 'web', ...at)
  assert.notEqual(none.code, 0)
})

test('exec talks over a stream, and ends with the command’s exit code', async () => {
  await using fixture = await open()
  const at = ['-g', 'demo']
  const image = ['--image', 'r.example/web:1']
  assert.equal(
    (await fixture.run('container-group', 'create', 'web', '--yes', ...at, ...image)).code,
    0,
  )
  const exec = ['container-group', 'exec', 'web', ...at, '--command']
  const ran = await fixture.run(...exec, 'echo "a b"')
  assert.equal(ran.code, 0, ran.error)
  assert.match(ran.out, /would run \["echo","a b"\]/)
  const wrong = await fixture.run(...exec, "'")
  assert.equal(wrong.code, 1)
  assert.match(wrong.error, /InvalidCommand/)
})

test('a create that cannot be is said, with its code', async () => {
  await using fixture = await open()
  const wrong = await fixture.run(
    ...[
      'container-group',
      'create',
      'web',
      '-g',
      'demo',
      '--image',
      'r.example/pull-error',
      '--yes',
    ],
  )
  assert.notEqual(wrong.code, 0)
  assert.match(wrong.error, /InaccessibleImage/)
  const neither = await fixture.run('container-group', 'create', 'web', '-g', 'demo', '--yes')
  assert.equal(neither.code, 2)
})

test('the demo runs, every call of it', async () => {
  await using fixture = await open()
  const group = await fixture.run('resource-group', 'create', 'demo', '--location', 'here')
  assert.equal(group.code, 0, group.error)
  const shown = await fixture.run('demo', 'containers', '--run', '--json')
  assert.equal(shown.code, 0, shown.error)
  // What `demo --json` prints.
  const calls = JSON.parse(shown.out) as { method: string; status: number }[]
  assert.deepEqual(
    calls.map(({ method }) => method),
    ['PUT', 'GET', 'GET', 'PUT', 'POST', 'DELETE'],
  )
})

test('201 carries Location and Retry-After', async () => {
  await using fixture = await open()
  const path = `/subscriptions/${subscription}/resourceGroups/rg/providers/Vendor.ContainerInstance/containerGroups/web`
  const answer = await fetch(`${fixture.url}${path}?api-version=2025-09-01`, {
    method: 'PUT',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
    body: JSON.stringify({
      properties: { containers: [{ name: 'web', properties: { image: 'i' } }] },
    }),
  })
  await answer.text()
  assert.equal(answer.status, 201)
  assert.match(answer.headers.get('location') ?? '', /^http:.*operationResults/)
  assert.equal(answer.headers.get('retry-after'), '1')
})
