/**
 * Answers of Docker that Podman does not give, from a small HTTP server: pulls that fail inside a 200, a higher
 * minimum version, foreign objects in a filtered list.
 */

import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { until } from '../../../../tests/until.ts'
import type { EngineError } from '../engine.ts'
import { DockerEngine } from './docker-engine.ts'

type Answer = readonly [status: number, body: string, headers?: http.OutgoingHttpHeaders]

async function withServer(
  answer: (method: string, path: string, headers: http.IncomingHttpHeaders) => Answer | undefined,
  body: (engine: DockerEngine, asked: readonly string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    const [method, path] = [request.method ?? '', request.url ?? '']
    asked.push(`${method} ${path}`)
    const version: Answer = [200, '{"Version":"29.0","MinAPIVersion":"1.44","Arch":"amd64"}']
    const known =
      answer(method, path, request.headers) ?? (path === '/_ping' ? [200, 'OK'] : undefined)
    const [status, text, headers] =
      known ?? (path === '/version' ? version : [404, '{"message":"no such"}'])
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo
  const target = { kind: 'tcp', host: '127.0.0.1', port } as const
  try {
    await using engine = new DockerEngine({ target, installation: 'one' })
    await body(engine, asked)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

test('an engine is described once, until it answers as another version', async () => {
  let server = 'Docker/29.0'
  const answer = (_method: string, path: string): Answer | undefined =>
    path === '/_ping' ? [200, 'OK', { server }] : undefined
  await withServer(answer, async (engine, asked) => {
    const versions = (): number => asked.filter((one) => one === 'GET /version').length
    const first = await engine.describe()
    assert.deepEqual(await engine.describe(), first)
    assert.equal(versions(), 1)
    server = 'Docker/29.1'
    await engine.describe()
    assert.equal(versions(), 2)
    assert.equal(asked.filter((one) => one === 'GET /_ping').length, 3)
  })
})

test('a Podman without its header is known by what its version says', async () => {
  const components = [{ Name: 'Podman Engine', Version: '4.3.1' }]
  const version = { Version: '4.3.1', MinAPIVersion: '1.24', Components: components }
  const answer = (_method: string, path: string): Answer | undefined =>
    path === '/version' ? [200, JSON.stringify(version)] : undefined
  await withServer(answer, async (engine) => {
    assert.match((await engine.describe()).title, /^Podman 4\.3\.1 at /)
  })
})

const pulls: readonly [string, string][] = [
  ['manifest unknown: manifest unknown', 'absent'],
  ['pull access denied for x, repository does not exist', 'refused'],
  ['unauthorized: authentication required', 'refused'],
  ['dial tcp 1.2.3.4:443: connect: connection refused', 'unavailable'],
  ['toomanyrequests: rate limit', 'unavailable'],
]

for (const [text, kind] of pulls) {
  test(`a pull that fails inside its progress is ${kind}: ${text}`, async () => {
    const lines = `{"status":"Pulling"}\n${JSON.stringify({ error: text })}\n`
    const answer = (method: string): Answer | undefined =>
      method === 'POST' ? [200, lines] : undefined
    await withServer(answer, async (engine) => {
      await assert.rejects(engine.pull('registry.test/x:1'), { name: 'EngineError', kind })
    })
  })
}

/** As Docker 20.10 answers, for a registry that redirects inward or repeats what it was sent. */
const early: readonly [status: number, text: string, kind: string][] = [
  [404, 'manifest for registry.test/x:1 not found: manifest unknown', 'absent'],
  [404, "pull access denied for x, may require 'docker login': denied: hush-hush", 'refused'],
  [500, 'error parsing HTTP 403 response body: invalid character: "an inner page"', 'unavailable'],
  [500, 'Head "http://10.0.0.1/v2/x/manifests/1": dial tcp: connection refused', 'unavailable'],
  [500, 'Get "https://registry.test/v2/": unauthorized: Basic bWU6aHVzaC1odXNo', 'refused'],
]

test('a pull that fails before it begins says no more than one that fails later', async () => {
  const credentials = { server: 'registry.test', username: 'me', password: 'hush-hush' }
  for (const [status, message, kind] of early) {
    const answer = (method: string): Answer | undefined =>
      method === 'POST' ? [status, JSON.stringify({ message })] : undefined
    await withServer(answer, async (engine) => {
      const work = engine.pull('registry.test/x:1', { credentials })
      await assert.rejects(work, (error: EngineError) => {
        assert.equal(error.kind, kind, error.message)
        assert.doesNotMatch(error.message, /inner page|10\.0\.0\.1|connection refused|hush/)
        // For the operator alone, and no secret for anybody.
        assert.match(String(error.cause), /registry\.test|inner page|10\.0\.0\.1|denied/)
        assert.doesNotMatch(String(error.cause), /hush-hush|bWU6aHVzaC1odXNo/)
        return true
      })
    })
  }
})

test('a pull that ends well without an image is absent, and sends its credentials', async () => {
  let sent = ''
  const answer = (
    method: string,
    _path: string,
    headers: http.IncomingHttpHeaders,
  ): Answer | undefined => {
    if (method !== 'POST') return undefined
    sent = String(headers['x-registry-auth'])
    return [200, '{"status":"done"}\n']
  }
  await withServer(answer, async (engine, asked) => {
    const credentials = { server: 'registry.test', username: 'me', password: 'hush' }
    const work = engine.pull('registry.test/x', { credentials })
    await assert.rejects(work, (error: Error) => !error.message.includes('hush'))
    assert.match(asked.join(), /fromImage=registry\.test%2Fx%3Alatest/)
    const versioned = asked.filter((each) => !/ \/(?:_ping|version)$/.test(each))
    assert.ok(versioned.every((each) => each.includes('/v1.44/')))
  })
  const { serveraddress, ...rest } = JSON.parse(Buffer.from(sent, 'base64url').toString())
  assert.deepEqual([serveraddress, rest], ['registry.test', { username: 'me', password: 'hush' }])
})

test('an image whose labels are many is refused when it is pulled, and when it is there', async () => {
  const answer = (method: string, path: string): Answer | undefined => {
    if (method === 'POST') return [200, '{"status":"done"}\n']
    if (!path.includes('/images/')) return [200, '[]']
    const count = path.includes('many') ? 10_000 : 500
    const Labels = Object.fromEntries(Array.from({ length: count }, (_, at) => [`label-${at}`, '']))
    return [200, JSON.stringify({ Id: 'x', Config: { Labels } })]
  }
  await withServer(answer, async (engine) => {
    for (const refresh of [false, true]) {
      await assert.rejects(engine.pull('registry.test/many', { refresh }), {
        kind: 'refused',
        message:
          /'registry\.test\/many': its labels and settings: the answer is longer than 128 KB/,
      })
      await engine.pull('registry.test/few', { refresh })
    }
    const { imagesPresent } = await engine.observe('g', ['registry.test/many', 'registry.test/few'])
    assert.deepEqual([...imagesPresent], ['registry.test/few'])
  })
})

test('an event that is too long is left out, and those that follow are seen', async () => {
  const event = (part: string, own: object = {}): string => {
    const Attributes = { 'armature.group': 'g', 'armature.part': part, ...own }
    return `${JSON.stringify({ Action: 'start', timeNano: 1e6, Actor: { Attributes } })}\n`
  }
  const long = event('long', { label: 'x'.repeat(3_000_000) })
  const lines = event('a') + long + event('ä') + long
  const answer = (_: string, path: string): Answer | undefined =>
    path.includes('/events') ? [200, lines] : undefined
  await withServer(answer, async (engine) => {
    const seen: unknown[] = []
    const work = async () => {
      for await (const one of engine.events(new AbortController().signal)) seen.push(one)
    }
    await assert.rejects(work(), { message: /the engine went away/ })
    const attributes = seen.map((one) => (one as { part?: string }).part)
    assert.deepEqual(attributes, [undefined, 'a', 'ä'])
  })
})

test('what a filter lets through wrongly is neither seen nor touched', async () => {
  const foreign = { 'armature.installation': 'two', 'armature.group': 'g' }
  const answer = (method: string, path: string): Answer | undefined => {
    if (method !== 'GET') return undefined
    if (path.includes('/volumes')) {
      return [200, JSON.stringify({ Volumes: [{ Name: 'precious', Labels: foreign }] })]
    }
    if (path.includes('/containers/json')) {
      return [200, JSON.stringify([{ Id: 'precious', State: 'running', Labels: foreign }])]
    }
    return undefined
  }
  await withServer(answer, async (engine, asked) => {
    await engine.stop('g', 0)
    await engine.remove('g')
    assert.deepEqual(await engine.list(), [])
    assert.equal((await engine.observe('g')).empty, true)
    assert.ok(
      asked.every((each) => each.startsWith('GET ')),
      asked.join('\n'),
    )
  })
})

test('a container that ends while Podman reads its processes is read once more', async () => {
  const labels = { 'armature.installation': 'one', 'armature.group': 'g', 'armature.part': 'a' }
  const container = {
    Id: 'x',
    State: { Running: false, Status: 'exited' },
    Config: { Labels: labels },
  }
  const ended: Answer = [500, '{"message":"read /proc/29347/cgroup: no such process"}']
  let failures = 1
  const reads: string[] = []
  const answer = (method: string, path: string): Answer | undefined => {
    const what = /containers\/.*json/.exec(path.split('?')[0] ?? '')?.[0]
    if (method !== 'GET' || what === undefined) return undefined
    reads.push(what)
    if (reads.filter((one) => one === what).length <= failures) return ended
    const listed = [{ Id: 'x', State: 'exited', Labels: labels }]
    return [200, JSON.stringify(what === 'containers/json' ? listed : container)]
  }
  await withServer(answer, async (engine) => {
    assert.equal((await engine.observe('g')).empty, false)
    assert.deepEqual(reads.sort(), [
      'containers/json',
      'containers/json',
      'containers/x/json',
      'containers/x/json',
    ])
    // No third call: what fails again has another reason.
    reads.length = 0
    failures = 2
    await assert.rejects(engine.observe('g'), { kind: 'unavailable', message: /no such process/ })
    assert.deepEqual(reads, ['containers/json', 'containers/json'])
  })
})

test('an engine that is not there, or talks nonsense, is unavailable', async () => {
  const target = { kind: 'socket', path: '/no/such/socket' } as const
  await using engine = new DockerEngine({ target, installation: 'one' })
  await assert.rejects(engine.describe(), { kind: 'unavailable', retry: 'later' })
  await assert.rejects(engine.remove('g'), { kind: 'unavailable' })
  const work = (async () => {
    for await (const _ of engine.events(new AbortController().signal));
  })()
  await assert.rejects(work, { kind: 'unavailable' })
})

/** Who holds which calls, how many of its calls are with the engine for two groups of 40 containers, and the work of a group. */
const holding = [
  [
    'programs that take no signal',
    'stop',
    80,
    (engine: DockerEngine, group: string) => engine.stop(group, 10),
  ],
  [
    'containers of which nothing is said',
    'json',
    8,
    (engine: DockerEngine, group: string) => engine.observe(group),
  ],
  [
    'removals of groups with many containers',
    'stop',
    4,
    (engine: DockerEngine, group: string) => engine.remove(group),
  ],
] as const

for (const [who, what, callsMax, work] of holding) {
  test(`${who} keep no other caller from the engine`, async () => {
    const labels = (group: string) => ({ 'armature.installation': 'one', 'armature.group': group })
    const held: http.ServerResponse[] = []
    let isHeld = true
    const server = http.createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://engine')
      if (isHeld && new RegExp(`/containers/\\w+/${what}$`).test(url.pathname)) {
        held.push(response)
        return
      }
      const group = /armature\.group=(\w+)/.exec(url.searchParams.get('filters') ?? '')?.[1]
      const containers = Array.from(
        { length: group === undefined || !isHeld ? 0 : 40 },
        (_, at) => ({
          Id: `${group}${at}`,
          State: 'running',
          Labels: { ...labels(group ?? ''), 'armature.part': `c${at}` },
        }),
      )
      const version = { Version: '29.0', MinAPIVersion: '1.44', Arch: 'amd64' }
      response.end(JSON.stringify(url.pathname === '/version' ? version : containers))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // A server that listens on TCP has such an address.
    const { port } = server.address() as AddressInfo
    try {
      await using engine = new DockerEngine({
        target: { kind: 'tcp', host: '127.0.0.1', port },
        installation: 'one',
      })
      const works = ['a', 'b'].map((group) => work(engine, group))
      await until(() => held.length >= callsMax, 10)
      assert.deepEqual(await engine.images(), [])
      assert.equal(held.length, callsMax)
      isHeld = false
      for (const response of held) response.end('{}')
      await Promise.all(works)
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
}
