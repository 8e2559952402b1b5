/** What a failed pull reveals of its address: on real Podman, by the messages of engines, and by the policy. */

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '#kernel/ports.ts'
import { Names } from '#outbound/names/names.ts'
import { openOutbound } from '#outbound/outbound.ts'
import { closedPort, localServer, watchedWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { EngineError } from '../engine.ts'
import { failureOfPull, requireRegistry } from '../registry.ts'
import { startPodman } from '../testing/podman.ts'
import { DockerEngine } from './docker-engine.ts'

const secret = 'the body of an inner service'

async function failure(work: Promise<unknown>): Promise<EngineError> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof EngineError, String(error))
  return error
}

test('open, closed and foreign ports look the same, and no body is shown', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  await using web = await localServer((_, response) => {
    response.writeHead(404, { 'content-type': 'text/plain' }).end(secret)
  })
  const engine = (outbound: ReturnType<typeof watchedWay>['outbound']) =>
    new DockerEngine({ target: podman.target, installation: 'registry-test', outbound })
  const told = new Set<string>()
  const heard: string[] = []
  await using open = engine(watchedWay({ mode: 'open' }).outbound)
  for (const port of [web.port, await closedPort()]) {
    const { kind, message, cause } = await failure(open.pull(`127.0.0.1:${port}/x:1`))
    told.add(`${kind} ${message.replace(String(port), 'PORT')}`)
    heard.push(String(cause))
  }
  assert.equal(told.size, 1, [...told].join('\n'))
  assert.doesNotMatch([...told].join(), /body|refused|404/)
  assert.match(heard[1] ?? '', /connection refused/)

  web.requests.length = 0
  await using guarded = engine(watchedWay({}).outbound)
  const { kind, message } = await failure(guarded.pull(`127.0.0.1:${web.port}/x:1`))
  assert.deepEqual([kind, web.requests], ['refused', []])
  assert.match(message, /its registry must not be asked from here/)
})

test('a sign-in of the engine’s host is nobody’s', async (t) => {
  const sent: string[] = []
  await using registry = await localServer((request, response) => {
    const { authorization = '' } = request.headers
    if (authorization !== '') sent.push(Buffer.from(authorization.slice(6), 'base64').toString())
    response.writeHead(authorization === '' ? 401 : 404, { 'www-authenticate': 'Basic realm="r"' })
    response.end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}')
  })
  const server = `127.0.0.1:${registry.port}`
  const podman = await startPodman({ plainRegistry: server })
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  // As `podman login` writes it.
  const auth = Buffer.from('operator:of-the-operator').toString('base64')
  await mkdir(join(podman.folder, 'containers'))
  const file = join(podman.folder, 'containers', 'auth.json')
  await writeFile(file, JSON.stringify({ auths: { [server]: { auth } } }))
  const { outbound } = watchedWay({ mode: 'open' })
  await using engine = new DockerEngine({
    target: podman.target,
    installation: 'sign-in-test',
    outbound,
  })
  await failure(engine.pull(`${server}/x:1`))
  const credentials = { server, username: 'me', password: 'mine' }
  await failure(engine.pull(`${server}/x:1`, { credentials }))
  assert.deepEqual([...new Set(sent)], [':', 'me:mine'])
})

test('the words of engines: what a registry says is passed on, all else is one sentence', () => {
  const kindOf = (told: string): string => {
    const { kind, message } = failureOfPull(`${told} ${secret}`, 'r.test/x')
    assert.ok(!message.includes(secret))
    return kind
  }
  for (const told of [
    'initializing source docker://r.test/x: pinging container registry r.test: StatusCode: 403,',
    'initializing source docker://r.test/x: pinging container registry r.test: StatusCode: 404,',
    'Get "https://r.test/v2/": dial tcp 10.0.0.1:443: connect: connection refused',
    'Get "https://r.test/v2/": dial tcp: lookup r.test: no such host',
    'error parsing HTTP 404 response body: invalid character:',
    'received unexpected HTTP status: 500',
    'Get "https://r.test/v2/": http: server gave HTTP response to HTTPS client',
    'unexpected status from HEAD request to http://r.test/v2/x/manifests/1: 403 Forbidden',
    'Get "https://r.test/v2/": context deadline exceeded',
    'Get "https://r.test/v2/": tls: failed to verify certificate: x509: certificate is valid for inner.corp',
    'EOF',
  ]) {
    assert.equal(kindOf(told), 'unavailable', told)
  }
  assert.equal(kindOf('reading manifest 1 in r.test/x: manifest unknown'), 'absent')
  assert.equal(kindOf('reading manifest 1 in r.test/x: unauthorized: authentication'), 'refused')
  assert.equal(kindOf('requested access to the resource is denied'), 'refused')
})

test('registries are judged by their host; one that only the engine knows is left to it', async () => {
  const names = { 'inside.test': [['10.0.0.1']], 'registry-1.docker.io': [['93.184.216.34']] }
  const { outbound, asked } = watchedWay({ allow: ['lan.test:5000'] }, names)
  const kinds = async (image: string) => (await failure(requireRegistry(image, outbound))).kind
  assert.equal(await kinds('localhost/x'), 'refused')
  // Newer engines take what is not lower case for a host: no repository is called so.
  assert.equal(await kinds('0X7F000001/x'), 'refused')
  assert.equal(await kinds('LOCALHOST/x'), 'refused')
  assert.equal(await kinds('169.254.169.254:80/x'), 'refused')
  assert.equal(await kinds('inside.test/x'), 'unavailable')
  await requireRegistry('nginx', outbound)
  await requireRegistry('library/nginx', outbound)
  await requireRegistry('lan.test:5000/x', outbound)
  assert.deepEqual(asked.filter((name) => name.includes('docker')).length, 2)
})

test('a registry whose name was not looked up is not judged, and nothing is pulled from it', async () => {
  await using names = new Names()
  const settings = { mode: 'guarded', allow: [], deny: [] } as const
  const outbound = openOutbound({ settings, log: silentLog, resolve: names.resolve })
  // The system says that it knows no such name.
  await requireRegistry('lan.invalid:5000/x', outbound)
  await names[Symbol.asyncDispose]()
  const { kind } = await failure(requireRegistry('lan.invalid:5000/x', outbound))
  assert.equal(kind, 'unavailable')
})
