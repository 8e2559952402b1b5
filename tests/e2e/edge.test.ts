/** The HTTP edge of a running server: headers, limits, throttling, logs, files, and its shutdown. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { until } from '../until.ts'
import { assertRefused, createApplication, createResourceGroup } from './access.ts'
import { type Answer, type Installation, startInstallation } from './installation.ts'

const groups = 'api-version=2021-04-01'
const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('a server at debug level', { timeout: 360_000 }, () => {
  let installation: Installation
  let subscription: string
  let group: string
  /** Texts that must never appear in a log. */
  const secrets: string[] = []

  before(async () => {
    installation = await startInstallation({ environment: { ARMATURE_LOG_LEVEL: 'debug' } })
    subscription = `/subscriptions/${installation.subscriptionId}`
    group = `${subscription}/resourceGroups/edge`
    assert.equal((await createResourceGroup(installation, group)).status, 201)
  })
  after(() => installation[Symbol.asyncDispose]())

  test('headers of every answer', async () => {
    for (const path of [`${group}?${groups}`, `${group}-missing?${groups}`, '/healthz']) {
      const { headers } = await installation.request('GET', path)
      const requestId = headers.get('x-ms-request-id') ?? ''
      assert.match(requestId, guid)
      assert.match(headers.get('x-ms-correlation-request-id') ?? '', guid)
      const routing = headers.get('x-ms-routing-request-id') ?? ''
      assert.match(routing, /^[A-Z]+:\d{8}T\d{6}Z:[0-9a-f-]{36}$/)
      assert.equal(new Date(headers.get('date') ?? '').toUTCString(), headers.get('date'))
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
      assert.equal(headers.get('cache-control'), 'no-cache')
      assert.equal(headers.get('pragma'), 'no-cache')
      assert.equal(headers.get('expires'), '-1')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('strict-transport-security'), null, 'said over https only')
      assert.equal(headers.get('x-powered-by'), null)
      const next = await installation.request('GET', path)
      assert.notEqual(next.headers.get('x-ms-request-id'), requestId, 'fresh per call')
    }
  })

  test('the correlation id is the caller’s, where it is a GUID', async () => {
    const id = randomUUID()
    const ask = (given: string) =>
      installation.request('GET', `${group}?${groups}`, {
        headers: { 'x-ms-correlation-request-id': given },
      })
    assert.equal((await ask(id)).headers.get('x-ms-correlation-request-id'), id)
    const made = (await ask('x y')).headers.get('x-ms-correlation-request-id') ?? ''
    assert.match(made, guid)
  })

  test('the client’s request id comes back only when asked for', async () => {
    const id = randomUUID()
    const ask = (wish: Readonly<Record<string, string>>) =>
      installation.request('GET', `${group}?${groups}`, {
        headers: { 'x-ms-client-request-id': id, ...wish },
      })
    assert.equal((await ask({})).headers.get('x-ms-client-request-id'), null)
    const wished = await ask({ 'x-ms-return-client-request-id': 'true' })
    assert.equal(wished.headers.get('x-ms-client-request-id'), id)
    const declined = await ask({ 'x-ms-return-client-request-id': 'false' })
    assert.equal(declined.headers.get('x-ms-client-request-id'), null)
  })

  const strangers: readonly [name: string, header: string | undefined, code: string][] = [
    ['no header', undefined, 'AuthenticationFailed'],
    ['another scheme', 'Basic b3duZXI6cGFzc3dvcmQ=', 'AuthenticationFailedInvalidHeader'],
    ['no token', 'Bearer', 'AuthenticationFailedInvalidHeader'],
    ['no JWT', 'Bearer nonsense', 'InvalidAuthenticationToken'],
    ['an unsigned one', `Bearer ${unsigned()}`, 'InvalidAuthenticationToken'],
  ]
  for (const [name, header, code] of strangers) {
    test(`401 with ${name}: ${code}`, async () => {
      const answer = await installation.request('GET', `${group}?${groups}`, {
        token: null,
        headers: header === undefined ? {} : { authorization: header },
      })
      assertRefused(answer, 401, code)
      const challenge = answer.headers.get('www-authenticate') ?? ''
      assert.ok(
        challenge.startsWith(
          `Bearer authorization_uri="${installation.url}/common/oauth2/authorize"`,
        ),
        challenge,
      )
    })
  }

  test('a token that was tampered with is refused', async () => {
    const [head, body = '', signature] = installation.ownerToken.split('.')
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
    const other = Buffer.from(JSON.stringify({ ...claims, oid: randomUUID() })).toString(
      'base64url',
    )
    const token = [head, other, signature].join('.')
    const answer = await installation.request('GET', `${group}?${groups}`, { token })
    assertRefused(answer, 401, 'InvalidAuthenticationToken')
  })

  test('HEAD: 204 when there, 404 when not, never a body', async () => {
    const there = await installation.request('HEAD', `${group}?${groups}`)
    assert.equal(there.status, 204)
    assert.match(there.headers.get('etag') ?? '', /^"/)
    const missing = await installation.request('HEAD', `${group}-missing?${groups}`)
    assert.equal(missing.status, 404)
    assert.equal(missing.text, '')
    const list = await installation.request('HEAD', `${subscription}/resourceGroups?${groups}`)
    assert.equal(list.status, 200)
    assert.match(list.headers.get('content-type') ?? '', /json/)
    assert.equal(list.text, '')
  })

  const refusals: readonly [method: string, path: () => string, allow: string][] = [
    ['POST', () => `${group}?${groups}`, 'GET, HEAD, PUT, PATCH, DELETE'],
    ['DELETE', () => `${subscription}?api-version=2020-01-01`, 'GET, HEAD, PUT, PATCH'],
    ['PUT', () => `${subscription}/resourceGroups?${groups}`, 'GET, HEAD'],
    ['GET', () => `${subscription}/cancel?api-version=2020-01-01`, 'POST'],
    ['PUT', () => '/directory/users', 'POST, GET, OPTIONS'],
    ['POST', () => '/healthz', 'GET, HEAD, OPTIONS'],
  ]
  for (const [method, path, allow] of refusals) {
    test(`405 for ${method} where only ${allow} is`, async () => {
      const answer = await installation.request(method, path())
      assertRefused(answer, 405, 'MethodNotAllowed')
      assert.equal(answer.headers.get('allow'), allow)
    })
  }

  test('415: only JSON in UTF-8', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'application/json; charset=utf-16' },
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    ]) {
      const answer = await installation.request('PUT', `${group}-type?${groups}`, {
        body: '{"location":"local"}',
        headers,
      })
      assertRefused(answer, 415, 'UnsupportedMediaType')
    }
    const fine = await installation.request('PUT', `${group}-type?${groups}`, {
      body: '{"location":"local"}',
      headers: { 'content-type': 'Application/JSON; Charset="UTF-8"' },
    })
    assert.equal(fine.status, 201, fine.text)
  })

  test('413: a body of more than 4 MB, announced or not', async () => {
    const body = JSON.stringify({ location: 'local', managedBy: 'x'.repeat(4 * 1024 * 1024) })
    const answer = await installation.request('PUT', `${group}-large?${groups}`, { body })
    assertRefused(answer, 413, 'RequestEntityTooLarge')
    const chunked = await rawPut(installation, `${group}-large?${groups}`, body)
    assert.match(chunked, /^HTTP\/1\.1 413 /)
    assert.match(chunked, /RequestEntityTooLarge/)
    const missing = await installation.request('GET', `${group}-large?${groups}`)
    assertRefused(missing, 404, 'ResourceGroupNotFound')
  })

  test('a body nested deeper than 64 is refused, and so are headers of more than 32 KB', async () => {
    const deep = `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`
    const answer = await installation.request('PUT', `${group}-deep?${groups}`, { body: deep })
    assertRefused(answer, 400, 'InvalidRequestContent')
    const headers = { 'x-large': 'x'.repeat(33 * 1024) }
    const large = await installation.request('GET', `${group}?${groups}`, { headers })
    assertRefused(large, 431, 'RequestHeaderFieldsTooLarge')
  })

  describe('preconditions (facts 9.3)', () => {
    const at = (name: string) => `${group}-${name}?${groups}`
    const put = (name: string, headers: Readonly<Record<string, string>>, tag = 'a') =>
      installation.request('PUT', at(name), {
        body: { location: 'local', tags: { tag } },
        headers,
      })
    const present = async (name: string): Promise<string> => {
      const made = await put(name, {})
      assert.equal(made.status, 201, made.text)
      return made.headers.get('etag') ?? ''
    }

    test('PUT', async () => {
      assertRefused(await put('put', { 'if-match': '*' }), 412, 'PreconditionFailed')
      assertRefused(await put('put', { 'if-match': '"x"' }), 412, 'PreconditionFailed')
      assert.equal((await put('put', { 'if-none-match': '*' })).status, 201)
      assertRefused(await put('put', { 'if-none-match': '*' }), 412, 'PreconditionFailed')
      const first = (await put('put', {}, 'b')).headers.get('etag') ?? ''
      const second = await put('put', { 'if-match': first }, 'c')
      assert.equal(second.status, 200)
      assertRefused(await put('put', { 'if-match': first }, 'd'), 412, 'PreconditionFailed')
      assert.equal((await put('put', { 'if-match': '*' }, 'e')).status, 200)
      const list = `"x", ${(await put('put', {}, 'f')).headers.get('etag')}`
      assert.equal((await put('put', { 'if-match': list }, 'g')).status, 200)
    })

    test('PATCH', async () => {
      const patch = (name: string, header: string) =>
        installation.request('PATCH', at(name), {
          body: { tags: { patched: 'yes' } },
          headers: { 'if-match': header },
        })
      assertRefused(await patch('patch', '"x"'), 404, 'ResourceGroupNotFound')
      const etag = await present('patch')
      assertRefused(await patch('patch', '"x"'), 412, 'PreconditionFailed')
      const changed = await patch('patch', etag)
      assert.equal(changed.status, 200, changed.text)
      assert.deepEqual(changed.at('tags'), { patched: 'yes' })
      assertRefused(await patch('patch', etag), 412, 'PreconditionFailed')
    })

    test('DELETE', async () => {
      const remove = (header: string) =>
        installation.request('DELETE', at('delete'), { headers: { 'if-match': header } })
      assert.equal((await remove('"x"')).status, 204)
      const etag = await present('delete')
      assertRefused(await remove('"x"'), 412, 'PreconditionFailed')
      assert.equal((await remove(etag)).status, 202)
    })

    test('GET', async () => {
      const read = (header: string) =>
        installation.request('GET', at('get'), { headers: { 'if-none-match': header } })
      assertRefused(await read('"x"'), 404, 'ResourceGroupNotFound')
      const etag = await present('get')
      assert.equal((await read('"x"')).status, 200)
      for (const header of [etag, `W/${etag}`, '*']) {
        const unchanged = await read(header)
        assert.equal(unchanged.status, 304)
        assert.equal(unchanged.text, '')
        assert.equal(unchanged.headers.get('etag'), etag)
      }
    })
  })

  test('/healthz, /readyz, /metrics and /openapi answer without a token', async () => {
    const ask = (path: string) => installation.request('GET', path, { token: null })
    assert.deepEqual((await ask('/healthz')).body, { status: 'ok' })
    const ready = await ask('/readyz')
    assert.equal(ready.status, 200)
    assert.deepEqual(ready.at('checks'), [
      { name: 'accepting', ok: true },
      { name: 'store', ok: true },
      { name: 'container engine', ok: true, required: false },
    ])
    const metrics = await ask('/metrics')
    assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain/)
    assert.match(metrics.text, /^process_cpu_seconds_total /m)
    const counted =
      /^armature_http_requests_total\{method="PUT",type="Vendor\.Resources\/[^"]*",status="2xx"\} \d+$/m
    assert.match(metrics.text, counted)
    const documents = (await ask('/openapi')).at('value')
    assert.ok(Array.isArray(documents) && documents.length > 2)
    for (const path of documents.map(String)) {
      const document = await ask(path)
      assert.equal(document.at('openapi'), '3.1.0', path)
      const [, namespace] = /^\/openapi\/([^/]+)\//.exec(path) ?? []
      assert.equal(document.at('info.title'), namespace)
    }
    assertRefused(await ask('/openapi/Vendor.Nothing/2020-01-01.json'), 404, 'NotFound')
  })

  test('the home is for its owner alone', () => {
    assert.equal(statSync(installation.home).mode & 0o777, 0o700)
    const names = readdirSync(installation.home)
    assert.ok(names.includes('owner.json') && names.includes('installation.key'))
    for (const name of names) {
      const entry = statSync(join(installation.home, name))
      const expected = entry.isDirectory() ? '700' : '600'
      assert.equal((entry.mode & 0o777).toString(8), expected, name)
    }
  })

  test('no secret and no token is ever logged', async () => {
    const application = await createApplication(installation, 'logged')
    const password = `Correct-horse-${randomUUID()}`
    const body = { displayName: 'Ada', signInName: 'ada', password }
    const user = await installation.request('POST', '/directory/users', { body })
    assert.equal(user.status, 201, user.text)
    const madeUp = await installation.request('POST', '/directory/users', {
      body: { displayName: 'Bo', signInName: 'bo' },
    })
    const more = await installation.request(
      'POST',
      `/directory/servicePrincipals/${application.principalId}/secrets`,
      { body: { displayName: 'second' } },
    )
    const { owner } = installation
    secrets.push(
      ...[application.token, application.clientSecret, password, String(madeUp.at('password'))],
      ...[String(more.at('clientSecret')), installation.ownerToken],
      ...[owner.clientSecret, owner.password],
      readFileSync(join(installation.home, 'installation.key'), 'utf8').trim(),
      readFileSync(join(installation.home, 'local-token.secret'), 'utf8').trim(),
    )
    for (const secret of secrets) assert.ok(secret.length > 8, 'a secret worth looking for')
    // Each at its proper place and at wrong ones: paths, queries, headers, broken bodies.
    for (const secret of secrets) {
      await installation.request('GET', `${group}?${groups}`, { token: secret })
      await installation.request(
        'GET',
        `${group}?${groups}&access_token=${encodeURIComponent(secret)}`,
      )
      await installation.request('PUT', `${group}-log?${groups}`, {
        body: `{"password":"${secret}`,
      })
      for (const form of [
        { grant_type: 'client_credentials', client_id: 'x', client_secret: secret },
        { grant_type: 'refresh_token', client_id: 'x', refresh_token: secret },
      ]) {
        await installation.request('POST', '/common/oauth2/token', {
          token: null,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(form).toString(),
        })
      }
    }
    await logged(installation, await installation.request('GET', '/healthz'))
    const said = installation.log() + installation.output()
    for (const [at, secret] of secrets.entries()) {
      assert.ok(!said.includes(secret), `secret ${at} is in the log`)
    }
    for (const line of installation.log().trim().split('\n')) JSON.parse(line)
  })

  test('a log line tells who asked for what, and finds the answer by its ids', async () => {
    const answer = await installation.request('GET', `${group}?${groups}`)
    const line = await logged(installation, answer)
    assert.equal(line['method'], 'GET')
    assert.equal(line['path'], group)
    assert.equal(line['status'], 200)
    assert.equal(line['principalId'], installation.principalId)
    assert.equal(line['correlationId'], answer.headers.get('x-ms-correlation-request-id'))
  })

  test('SIGTERM: a request under way ends, a new one is not taken, and the exit code is 0', async () => {
    const path = `${group}-drain?${groups}`
    const body = JSON.stringify({ location: 'local' })
    const socket = await opened(installation)
    socket.write(head(installation, path, `Content-Length: ${body.length}`) + body.slice(0, 5))
    const idle = await opened(installation)
    idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(idle, 'data')
    // The server has read the head once it counts the request as running.
    await running(installation, 2)
    const [answer, idleClosed] = [text(socket), once(idle, 'close')]
    const code = installation.stop()
    await idleClosed
    socket.write(body.slice(5))
    const said = await answer
    assert.match(said, /^HTTP\/1\.1 201 /)
    assert.match(said, /^Connection: close\r$/im)
    assert.equal(await code, 0)
    await assert.rejects(fetch(installation.url), 'nobody listens any more')
    assert.ok(!readdirSync(installation.home).includes('running.json'))
    assert.match(installation.log(), /Shutting down gracefully/)
  })
})

function unsigned(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none', typ: 'at+jwt' })}.${part({ oid: randomUUID() })}.`
}

function head(installation: Installation, path: string, framing: string): string {
  return [
    `PUT ${path} HTTP/1.1`,
    `Host: ${new URL(installation.url).host}`,
    `Authorization: Bearer ${installation.ownerToken}`,
    'Content-Type: application/json',
    framing,
    '\r\n',
  ].join('\r\n')
}

async function opened(installation: Installation): Promise<Socket> {
  const { hostname, port } = new URL(installation.url)
  const socket = connect(Number(port), hostname)
  // A cut connection is an answer, too. The tests see what came before.
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

async function text(socket: Socket): Promise<string> {
  let said = ''
  socket.on('data', (chunk: Buffer) => {
    said += chunk
  })
  await once(socket, 'close')
  return said
}

/** Sends a body without a length. */
async function rawPut(installation: Installation, path: string, body: string): Promise<string> {
  const socket = await opened(installation)
  const answer = text(socket)
  socket.write(head(installation, path, 'Transfer-Encoding: chunked\r\nConnection: close'))
  for (let at = 0; at < body.length; at += 65_536) {
    const chunk = body.slice(at, at + 65_536)
    socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  }
  socket.write('0\r\n\r\n')
  return answer
}

/** The log line of a request. It is written after the answer, so it may take a moment to arrive. */
async function logged(
  installation: Installation,
  answer: Answer,
): Promise<Readonly<Record<string, unknown>>> {
  const id = answer.headers.get('x-ms-request-id') ?? ''
  const line = await until(() => {
    const lines = installation.log().split('\n').slice(0, -1)
    return lines.find((one) => one.includes(`"requestId":"${id}"`))
  })
  return JSON.parse(line)
}

/** Polls until this many requests are running, including the poll itself. */
async function running(installation: Installation, wanted: number): Promise<void> {
  await until(async () => {
    const { text: metrics } = await installation.request('GET', '/metrics')
    const [, count] = /^armature_http_requests_running (\d+)$/m.exec(metrics) ?? []
    return Number(count) >= wanted
  })
}

describe('small things that matter', () => {
  test('SIGTERM does not wait for a connection that never asked anything', async () => {
    await using installation = await startInstallation()
    const { hostname, port } = new URL(installation.url)
    const silent = connect(Number(port), hostname)
    await once(silent, 'connect')
    assert.equal((await installation.request('GET', '/healthz')).status, 200)
    const closed = once(silent, 'close').then(() => 'connection')
    const cut = setTimeout(5000, 'drain deadline')
    const ended = installation.stop()
    assert.equal(await Promise.race([closed, cut]), 'connection')
    assert.equal(await ended, 0)
  })

  test('GET /providers/{namespace}/operations', async () => {
    await using installation = await startInstallation()
    const path = '/providers/Vendor.Authorization/operations?api-version=2022-04-01'
    const answer = await installation.request('GET', path)
    assert.equal(answer.status, 200, answer.text)
    const names = answer.items().map((one) => one['name'])
    for (const verb of ['read', 'write', 'delete']) {
      assert.ok(names.includes(`Vendor.Authorization/roleAssignments/${verb}`))
    }
  })

  test('the contract’s path with a scope that begins or ends with a slash, or with none', async () => {
    await using installation = await startInstallation()
    const subscription = `/subscriptions/${installation.subscriptionId}`
    for (const scope of ['', subscription, `${subscription}/`]) {
      const path = `/${scope}/providers/Vendor.Authorization/roleAssignments?api-version=2022-04-01`
      const answer = await installation.request('GET', path)
      assert.equal(answer.status, 200, answer.text)
    }
  })

  test('the front door leads to the sign-in page', async () => {
    await using installation = await startInstallation()
    const answer = await fetch(`${installation.url}/`, { redirect: 'manual' })
    assert.equal(answer.status, 302)
    assert.equal(answer.headers.get('location'), 'signed-in')
  })
})
