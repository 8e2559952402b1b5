import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EngineEvent, ObservedGroup } from '../engine.ts'
import { at } from '../json.ts'
import { nextStep } from '../next-step.ts'
import { openFakeCluster, part, spec } from './testing/fake-cluster.ts'

const published = [{ port: 80, protocol: 'tcp', publish: { address: '192.0.2.1' } }] as const
const keys = { kind: 'files', name: 'keys', fileMode: 0o400 } as const
const contents = {
  files: new Map([['keys', [{ name: 'password', bytes: Buffer.from('hush') }]]]),
  environment: new Map([['web', new Map([['TOKEN', 'hush']])]]),
}

const isRunning = (observed: ObservedGroup) =>
  observed.parts.length > 0 && observed.parts.every((each) => each.state.kind === 'running')
const stateOf = (observed: ObservedGroup) => observed.parts[0]?.state

test('all that is made carries the labels, and no other installation sees it', async (t) => {
  const { engine, open, until } = await openFakeCluster(t)
  await engine.create('g', spec([part('web')], { volumes: [keys], ports: published }), contents)
  await until('g', isRunning)
  const owned = await engine.list()
  assert.deepEqual(owned.map(({ kind }) => kind).sort(), [
    'container',
    'secret',
    'secret',
    'service',
  ])
  assert.ok(owned.every(({ group, hash, part }) => group === 'g' && hash === 'h1' && !part))
  await using stranger = open({ installation: 'two' })
  assert.deepEqual(await stranger.list(), [])
  await stranger.remove('g')
  assert.equal(isRunning(await engine.observe('g')), true)
})

test('what bears the labels of a long token and is another’s is left alone', async (t) => {
  const { engine, double } = await openFakeCluster(t)
  const long = 'x'.repeat(64)
  await engine.create(long, spec([part('web')], { hash: 'f'.repeat(64) }))
  const observed = await engine.observe(long)
  assert.equal(observed.hash, 'f'.repeat(64))
  const pod = double.objects.list('pods')[0]
  assert.ok(pod)
  for (const key of ['armature.group', 'armature.installation']) {
    const own = pod.metadata.annotations[key] ?? ''
    pod.metadata.annotations[key] = 'somebody-elses'
    await engine.remove(long)
    assert.equal(double.objects.list('pods').length, 1, key)
    assert.deepEqual((await engine.list()).length, key === 'armature.group' ? 1 : 0)
    pod.metadata.annotations[key] = own
  }
  pod.metadata.annotations['armature.installation'] = 'somebody-elses'
  await assert.rejects(engine.create(long, spec([part('web')])), { kind: 'refused' })
})

test('what is created starts by itself, in the order of the spec', async (t) => {
  const { engine, double, until } = await openFakeCluster(t)
  double.kubelet.hold()
  await engine.create('g', spec([part('zeta'), part('alpha')]))
  const made = await engine.observe('g')
  assert.equal(made.sandbox, 'up')
  assert.deepEqual(
    made.parts.map(({ name, state, hash }) => [name, state.kind, hash]),
    [
      ['zeta', 'created', 'h1'],
      ['alpha', 'created', 'h1'],
    ],
  )
  double.kubelet.release()
  assert.match((await until('g', isRunning)).address ?? '', /^\d+\.\d+\.\d+\.\d+$/)
})

test('stop waits for a polite end, gives all up, and running again makes it anew', async (t) => {
  const { engine, double, until } = await openFakeCluster(t)
  const wanted = spec([part('web', { stubborn: true })], { volumes: [keys], restart: 'always' })
  await engine.create('g', wanted, contents)
  await until('g', isRunning)
  const stopping = engine.stop('g', 40)
  const down = await until('g', (observed) => observed.sandbox === 'down')
  assert.equal(stateOf(down)?.kind, 'running')
  await assert.rejects(engine.create('g', wanted, contents), { kind: 'busy' })
  await stopping
  assert.equal((await engine.observe('g')).empty, true)
  assert.deepEqual(double.objects.list('secrets'), [])
  await engine.create('g', wanted, contents)
  await until('g', isRunning)
})

test('an engine that is closed asks nothing more, also while it waits', async (t) => {
  const { open, until } = await openFakeCluster(t)
  const engine = open({})
  await engine.create('g', spec([part('web', { stubborn: true })]))
  await until('g', isRunning)
  const stopping = engine.stop('g', 90)
  stopping.catch(() => {})
  await until('g', (observed) => observed.sandbox === 'down')
  await engine[Symbol.asyncDispose]()
  await assert.rejects(stopping, { kind: 'unavailable' })
  await assert.rejects(engine.observe('g'), { kind: 'unavailable' })
})

test('another hash is in the way until it is stopped, then it is replaced', async (t) => {
  const { engine, until } = await openFakeCluster(t)
  const description = await engine.describe()
  const fresh = spec([part('web')], { hash: 'h2' })
  await engine.create('g', spec([part('web'), part('old')]))
  const seen = await until('g', isRunning)
  await assert.rejects(engine.create('g', fresh), { kind: 'busy' })
  assert.equal(nextStep('running', fresh, seen, { engine: description, now: 0 }).kind, 'stop')
  await engine.stop('g', 1)
  const stopped = await engine.observe('g')
  assert.equal(nextStep('running', fresh, stopped, { engine: description, now: 0 }).kind, 'create')
  await engine.create('g', fresh)
  const { parts } = await until('g', isRunning)
  assert.deepEqual(
    parts.map(({ name, hash }) => [name, hash]),
    [['web', 'h2']],
  )
})

test('a half-made group is completed, with the secrets of now', async (t) => {
  const { engine, double } = await openFakeCluster(t)
  const wanted = spec([part('web')], { volumes: [keys], ports: published })
  await engine.create('g', wanted, contents)
  for (const pod of double.objects.list('pods')) double.objects.remove('pods', pod)
  const left = await engine.observe('g')
  assert.deepEqual([left.empty, left.sandbox], [false, 'none'])
  const later = new Map([['keys', [{ name: 'password', bytes: Buffer.from('new') }]]])
  await engine.create('g', { ...wanted, hash: 'h2', ports: [] }, { files: later })
  assert.deepEqual(double.objects.list('services'), [])
  const data = double.objects.list('secrets').map((each) => JSON.stringify(each.data))
  assert.ok(data.includes(JSON.stringify({ 'file-0': Buffer.from('new').toString('base64') })))
  await engine.remove('g')
  assert.equal((await engine.observe('g')).empty, true)
})

test('an image nobody has makes a part wait, with the cluster’s reason', async (t) => {
  const { engine, until } = await openFakeCluster(t)
  await engine.pull()
  await engine.create('g', spec([part('web', {}, { image: 'example/no-such:1' })]))
  const seen = await until('g', (observed) => stateOf(observed)?.kind === 'waiting')
  assert.deepEqual(stateOf(seen), {
    kind: 'waiting',
    reason: 'ImagePullBackOff',
    imageMissing: true,
  })
})

test('a Service of its own: shown once it has an address; a node port has one holder', async (t) => {
  const { engine, double, open, until } = await openFakeCluster(t)
  double.balancersWait = true
  const port = { port: 80, protocol: 'tcp', publish: { address: '192.0.2.1', port: 8080 } } as const
  await engine.create('slow', spec([part('web')], { ports: [port] }))
  assert.deepEqual((await until('slow', isRunning)).published, [])
  double.balancersWait = false
  await engine.create('g', spec([part('web')], { ports: [port] }))
  assert.deepEqual((await engine.observe('g')).published, [
    { port: 80, protocol: 'tcp', address: '198.51.100.2', hostPort: 8080 },
  ])
  await using nodes = open({ serviceType: 'NodePort' })
  const fixed = { ...port, publish: { address: '192.0.2.1', port: 31_080 } }
  await nodes.create('n1', spec([part('web')], { ports: [fixed] }))
  const { published: told } = await until('n1', isRunning)
  assert.deepEqual(told, [{ port: 80, protocol: 'tcp', address: '192.0.2.10', hostPort: 31_080 }])
  const other = spec([part('web')], { ports: [fixed] })
  await assert.rejects(nodes.create('n2', other), { kind: 'busy' })
  await nodes.stop('n1', 0)
  await nodes.create('n2', other)
})

test('what is not built says so: restart, statistics, archives, folders of the host', async (t) => {
  const { engine, until } = await openFakeCluster(t)
  await engine.create('g', spec([part('web')]))
  const state = stateOf(await until('g', isRunning))
  const startedAt = state?.kind === 'running' ? state.startedAt : 0
  await assert.rejects(engine.restart('g', 'web', { startedAt }), { kind: 'refused' })
  await engine.restart('g', 'web', { startedAt: startedAt - 1000 })
  await assert.rejects(engine.restart('g', 'nobody', { startedAt }), { kind: 'absent' })
  await assert.rejects(engine.stats('g'), { kind: 'refused' })
  await assert.rejects(engine.stats('nobody'), { kind: 'absent' })
  const archive = { kind: 'archive', name: 'repo' } as const
  const archived = spec([part('web')], { volumes: [archive] })
  await assert.rejects(engine.create('a', archived), { kind: 'refused' })
  const host = { kind: 'host', name: 'share', folder: '/srv' } as const
  const shared = spec([part('web')], { volumes: [host] })
  await assert.rejects(engine.create('a', shared), { kind: 'refused' })
})

test('a part that does not run is unhealthy, and its log before the start is empty', async (t) => {
  const { engine, double, until } = await openFakeCluster(t)
  double.kubelet.hold()
  await engine.create('g', spec([part('job', { print: 'later', exitCode: 0 })]))
  let text = ''
  for await (const bytes of engine.logs('g', 'job')) text += String(bytes)
  assert.equal(text, '')
  double.kubelet.release()
  await until('g', (observed) => stateOf(observed)?.kind === 'terminated')
  const probe = { kind: 'exec', command: ['true'] } as const
  assert.equal((await engine.probe('g', 'job', probe, 1)).healthy, false)
})

test('attach follows the log until the part ends, and tells its code', async (t) => {
  const { engine, until } = await openFakeCluster(t)
  const again = { print: 'tick', exitCode: 4, afterSeconds: 2 }
  await engine.create('g', spec([part('web', again)]))
  await until('g', isRunning)
  await using session = await engine.attach('g', 'web')
  await assert.rejects(session.write(Buffer.from('x')), { kind: 'refused' })
  for await (const { stream } of session.output) assert.equal(stream, 'out')
  assert.equal(await session.exitCode(), 4)
})

test('events continue over the end of a watch, and end with an error when some are lost', async (t) => {
  const { engine, double } = await openFakeCluster(t)
  const seen: EngineEvent[] = []
  const stop = new AbortController()
  const { promise: ready, resolve: readied } = Promise.withResolvers<void>()
  const { promise: died, resolve: ended } = Promise.withResolvers<void>()
  const told = (async () => {
    for await (const event of engine.events(stop.signal)) {
      seen.push(event)
      if (event.kind === 'ready') readied()
      else if (event.what === 'died') {
        if (event.group === 'second') double.objects.forgetHistory()
        double.endWatches()
        ended()
      }
    }
  })()
  await ready
  await engine.create('first', spec([part('job', { exitCode: 3 })]))
  await died
  await engine.create('second', spec([part('job', { exitCode: 5 })]))
  await assert.rejects(told, { kind: 'unavailable' })
  const codes = seen.flatMap((event) =>
    event.kind === 'part' && event.what === 'died'
      ? [[event.group, event.part, event.exitCode]]
      : [],
  )
  assert.deepEqual(codes, [
    ['first', 'job', 3],
    ['second', 'job', 5],
  ])
})

test('logs that are followed keep no other call waiting, however many', async (t) => {
  const { engine, until } = await openFakeCluster(t)
  await engine.create('g', spec([part('web', { print: 'tick' })]))
  await until('g', isRunning)
  const stop = new AbortController()
  const options = { follow: true, signal: stop.signal }
  const followed = Array.from({ length: 70 }, () =>
    engine.logs('g', 'web', options)[Symbol.asyncIterator](),
  )
  await Promise.all(followed.map((log) => log.next()))
  assert.equal((await engine.observe('g')).empty, false)
  stop.abort()
})

test('groups with as long texts as there can be keep nobody from the list and the events', async (t) => {
  const { engine } = await openFakeCluster(t)
  // As JSON, each character takes six bytes.
  const environment = Array.from({ length: 4 }, (_, at) => ({
    name: `LONG${at}`,
    value: '\u0001'.repeat(128_000),
  }))
  const groups = Array.from({ length: 12 }, (_, at) => `g${at}`)
  for (const group of groups) await engine.create(group, spec([part('web', {}, { environment })]))
  const listed = await engine.list()
  assert.deepEqual(listed.map(({ group }) => group).sort(), groups.toSorted())
  const stop = new AbortController()
  for await (const { kind } of engine.events(stop.signal)) {
    assert.equal(kind, 'ready')
    stop.abort()
  }
})

test('a wrong token is refused, a server that is not there unavailable', async (t) => {
  const { double, open } = await openFakeCluster(t)
  await using wrong = open({ target: { ...double.target, token: 'guessed' } })
  await assert.rejects(wrong.describe(), { kind: 'refused' })
  await using nowhere = open({ target: { ...double.target, server: 'http://127.0.0.1:1' } })
  await assert.rejects(nowhere.observe('g'), { kind: 'unavailable' })
  assert.throws(() => open({ target: { ...double.target, server: 'cluster' } }), {
    kind: 'refused',
  })
})

test('credentials of a group reach the nodes that pull, and go with the group', async (t) => {
  const { engine, changes, double, until } = await openFakeCluster(t)
  const credentials = [{ server: 'registry.test', username: 'ann', password: 'hush' }]
  await engine.create('g', spec([part('web')]), { credentials })
  await until('g', isRunning)
  const [secret, pod] = changes()
  const name = String(at(secret?.body, 'metadata', 'name'))
  assert.equal(at(secret?.body, 'type'), 'kubernetes.io/dockerconfigjson')
  const config = Buffer.from(String(at(secret?.body, 'data', '.dockerconfigjson')), 'base64')
  assert.deepEqual(JSON.parse(String(config)), {
    auths: {
      'registry.test': { username: 'ann', password: 'hush', auth: btoa('ann:hush') },
    },
  })
  assert.deepEqual(at(pod?.body, 'spec', 'imagePullSecrets'), [{ name }])
  await engine.remove('g')
  assert.deepEqual(double.objects.list('secrets'), [])
})
