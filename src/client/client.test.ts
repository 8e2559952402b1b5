/** The client against a small real server: tokens, errors of every family, retries, pages, operations. */

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type Client, type ClientOptions, createClient } from './client.ts'
import { ClientError, ConnectionFailure, UntrustedLink } from './client-error.ts'
import { clientCredentialsToken, type DevicePrompt, deviceCodeToken } from './oauth.ts'
import type { Timing } from './timing.ts'
import { OperationDeadline } from './wait-for-operation.ts'

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

interface Reply {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: object | string
}

interface Fixture extends AsyncDisposable {
  readonly url: string
  readonly asked: Asked[]
  readonly slept: number[]
  readonly timing: Timing
  client(options?: Partial<ClientOptions>): Client
}

/** Answers each request as `reply` says. Only sleeping moves the time. */
async function startWorld(reply: (asked: Asked, count: number) => Reply): Promise<Fixture> {
  const asked: Asked[] = []
  const slept: number[] = []
  let now = Date.UTC(2026, 10, 20)
  const timing: Timing = {
    now: () => now,
    sleep: async (milliseconds) => {
      slept.push(milliseconds)
      now += milliseconds
    },
  }
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const one = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body,
    }
    asked.push(one)
    const answer = reply(one, asked.length)
    const text = typeof answer.body === 'object' ? JSON.stringify(answer.body) : answer.body
    const type = typeof answer.body === 'object' ? { 'content-type': 'application/json' } : {}
    response.writeHead(answer.status, { ...type, ...answer.headers }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of that form.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    asked,
    slept,
    timing,
    client: (options) => createClient({ url, token: async () => 'secret', timing, ...options }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function errorOf(promise: Promise<unknown>): Promise<ClientError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ClientError, String(error))
  return error
}

test('a request carries token, query and body, and the answer comes back parsed', async () => {
  await using fixture = await startWorld(() => ({
    status: 201,
    headers: { etag: '"1"' },
    body: { name: 'a' },
  }))
  const answer = await fixture.client({ url: `${fixture.url}/` }).request('PUT', '/a b?x=1#y', {
    query: { 'api-version': '2022-04-01', $filter: "name eq 'ü'", none: undefined },
    body: { properties: {} },
    headers: { 'If-Match': '*' },
  })
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('etag'), '"1"')
  assert.deepEqual(answer.body, { name: 'a' })
  const asked = fixture.asked[0]
  assert.equal(
    asked?.url,
    "/a%20b?x=1%23y&api-version=2022-04-01&$filter=name%20eq%20'%C3%BC'".replaceAll("'", '%27'),
  )
  assert.equal(asked?.headers.authorization, 'Bearer secret')
  assert.equal(asked?.headers['content-type'], 'application/json')
  assert.equal(asked?.headers['if-match'], '*')
  assert.equal(asked?.body, '{"properties":{}}')
})

test('a header of the caller replaces that of the client, however it is written', async () => {
  await using fixture = await startWorld(() => ({ status: 200, body: {} }))
  const client = fixture.client()
  const types = async (headers: Readonly<Record<string, string>>) => {
    await client.request('POST', '/', { headers, body: '{}' })
    const sent = fixture.asked.at(-1)?.headers
    return [sent?.accept, sent?.['content-type']]
  }
  assert.deepEqual(await types({}), ['application/json', 'application/json'])
  const written = { Accept: 'text/html', 'Content-Type': 'text/plain' }
  assert.deepEqual(await types(written), ['text/html', 'text/plain'])
})

test('text bodies go as they are; empty and plain answers are distinguished', async () => {
  await using fixture = await startWorld(({ url }) =>
    url === '/empty'
      ? { status: 204 }
      : { status: 200, body: 'plain', headers: { 'content-type': 'text/plain' } },
  )
  const client = fixture.client()
  assert.equal((await client.request('DELETE', '/empty')).body, undefined)
  const plain = await client.request('POST', '/', { body: '{"as": "is"}' })
  assert.equal(plain.body, 'plain')
  assert.equal(fixture.asked[1]?.body, '{"as": "is"}')
})

test('errors of every family become one', async () => {
  const families: Record<string, Reply> = {
    '/manager': {
      status: 400,
      headers: { 'x-ms-correlation-request-id': 'corr' },
      body: {
        error: {
          code: 'InvalidRequestContent',
          message: 'Wrong.',
          target: 'properties.a',
          details: [{ code: 'X', message: 'a is wrong', target: 'properties.a' }, { code: 'Y' }],
        },
      },
    },
    '/health': {
      status: 403,
      body: { code: 'AuthorizationFailed', message: 'No.', details: 'why' },
    },
    '/oauth': { status: 401, body: { error: 'invalid_client', error_description: 'Who?' } },
    '/plain': {
      status: 502,
      body: '<html>bad gateway</html>',
      headers: { 'content-type': 'text/html' },
    },
    '/empty': { status: 404 },
    '/lie': { status: 500, body: '{', headers: { 'content-type': 'application/json' } },
  }
  await using fixture = await startWorld(({ url }) => families[url] ?? { status: 500 })
  const client = fixture.client()
  const manager = await errorOf(client.request('GET', '/manager'))
  assert.equal(manager.code, 'InvalidRequestContent')
  assert.equal(manager.message, 'Wrong.')
  assert.equal(manager.target, 'properties.a')
  assert.equal(manager.status, 400)
  assert.equal(manager.correlationId, 'corr')
  assert.deepEqual(manager.details, [
    { code: 'X', message: 'a is wrong', target: 'properties.a' },
    { code: 'Y', message: '' },
  ])
  const health = await errorOf(client.request('GET', '/health'))
  assert.deepEqual([health.code, health.message], ['AuthorizationFailed', 'No.'])
  assert.deepEqual(health.details, [{ code: '', message: 'why' }])
  const oauth = await errorOf(client.request('GET', '/oauth'))
  assert.deepEqual([oauth.code, oauth.message], ['invalid_client', 'Who?'])
  const plain = await errorOf(client.request('GET', '/plain'))
  assert.equal(plain.code, 'Http502')
  assert.match(plain.message, /bad gateway/)
  const empty = await errorOf(client.request('HEAD', '/empty'))
  assert.deepEqual([empty.code, empty.message], ['Http404', 'HEAD /empty was answered with 404'])
  assert.equal((await errorOf(client.request('GET', '/lie'))).status, 500)
  assert.equal((await client.send('GET', '/empty')).status, 404, 'send does not judge')
})

test('429 and 503 are repeated when the server says when, and only so often', async () => {
  const waits = ['2', 'Fri, 20 Nov 2026 00:00:05 GMT']
  await using fixture = await startWorld((_, count) =>
    count <= 2
      ? { status: count === 1 ? 429 : 503, headers: { 'retry-after': waits[count - 1] ?? '' } }
      : { status: 200, body: { count } },
  )
  assert.deepEqual((await fixture.client().request('GET', '/')).body, { count: 3 })
  assert.deepEqual(
    fixture.slept,
    [2000, 3000],
    'the date is counted from the clock, two seconds later',
  )

  await using busy = await startWorld(() => ({ status: 429, headers: { 'retry-after-ms': '10' } }))
  assert.equal((await errorOf(busy.client({ retriesMax: 2 }).request('GET', '/'))).status, 429)
  assert.equal(busy.asked.length, 3)
})

test('nothing is repeated when the answer does not say when, or says too late', async () => {
  for (const headers of [{}, { 'retry-after': '61' }, { 'retry-after': 'soon' }]) {
    await using fixture = await startWorld(() => ({
      status: 503,
      headers: headers as Record<string, string>,
    }))
    assert.equal((await fixture.client().send('GET', '/')).status, 503)
    assert.equal(fixture.asked.length, 1)
  }
  await using broken = await startWorld(() => ({ status: 500, headers: { 'retry-after': '1' } }))
  assert.equal((await broken.client().send('GET', '/')).status, 500)
  assert.equal(broken.asked.length, 1)
})

test('each attempt asks for the token anew', async () => {
  await using fixture = await startWorld((_, count) =>
    count === 1 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 200 },
  )
  let count = 0
  await fixture.client({ token: async () => `token${++count}` }).request('GET', '/')
  assert.deepEqual(
    fixture.asked.map((asked) => asked.headers.authorization),
    ['Bearer token1', 'Bearer token2'],
  )
})

test('no answer is a failure of its own', async () => {
  const fixture = await startWorld(() => ({ status: 200 }))
  const client = fixture.client()
  await fixture[Symbol.asyncDispose]()
  await assert.rejects(client.request('GET', '/'), (error: unknown) => {
    assert.ok(error instanceof ConnectionFailure)
    assert.match(error.message, new RegExp(`No answer from ${fixture.url}: .*ECONNREFUSED`))
    return true
  })
})

test('an answer larger than asked for is not read to its end', async () => {
  await using fixture = await startWorld(() => ({ status: 200, body: 'x'.repeat(2000) }))
  await assert.rejects(
    fixture.client({ answerBytesMax: 1000 }).request('GET', '/'),
    /larger than 1000/,
  )
})

test('an aborted request rejects with the caller’s own reason', async () => {
  await using fixture = await startWorld(() => ({ status: 200 }))
  const signal = AbortSignal.abort(new Error('enough'))
  await assert.rejects(fixture.client().request('GET', '/', { signal }), /enough/)
})

test('pages are followed as given, the query only once', async () => {
  await using fixture = await startWorld(({ url, headers }) => {
    const next = `http://${headers.host}/list?api-version=1&$skipToken=`
    if (url.includes('skipToken=b')) return { status: 200, body: { value: [4], nextLink: '' } }
    if (url.includes('skipToken=a'))
      return { status: 200, body: { value: [], nextLink: `${next}b` } }
    return { status: 200, body: { value: [1, 2, 3], nextLink: `${next}a` } }
  })
  const items: unknown[] = []
  for await (const item of fixture.client().items('/list', { query: { 'api-version': '1' } }))
    items.push(item)
  assert.deepEqual(items, [1, 2, 3, 4])
  assert.deepEqual(
    fixture.asked.map((asked) => asked.url),
    ['/list?api-version=1', '/list?api-version=1&$skipToken=a', '/list?api-version=1&$skipToken=b'],
  )
})

test('an answer that is no list is an error of the client', async () => {
  for (const body of [{ value: 'three' }, { items: [] }, [1], 'a list']) {
    await using fixture = await startWorld(() => ({ status: 200, body }))
    await assert.rejects(collect(fixture.client().items('/list')), (error: unknown) => {
      assert.ok(error instanceof ClientError)
      assert.equal(error.code, 'UnreadableAnswer')
      assert.equal(error.message, 'GET /list was answered with 200 and without a list.')
      return true
    })
  }
})

test('a link to another server is not followed; one to another name of this one is', async () => {
  await using elsewhere = await startWorld(() => ({ status: 200, body: { value: [2] } }))
  await using fixture = await startWorld(() => ({
    status: 200,
    body: { value: [1], nextLink: `${elsewhere.url}/x` },
  }))
  await assert.rejects(collect(fixture.client().items('/')), UntrustedLink)
  assert.equal(elsewhere.asked.length, 0)
  const known = fixture.client({ alsoAt: [elsewhere.url] })
  assert.deepEqual(await collect(known.items('/')), [1, 2])
})

test('a redirect is not followed', async () => {
  await using elsewhere = await startWorld(() => ({ status: 200 }))
  await using fixture = await startWorld(() => ({
    status: 302,
    headers: { location: elsewhere.url },
  }))
  assert.equal((await fixture.client().send('GET', '/')).status, 302)
  assert.equal(elsewhere.asked.length, 0)
})

async function collect(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const collected: unknown[] = []
  for await (const item of items) collected.push(item)
  return collected
}

const states = ['Running', 'SomethingNew', 'Succeeded']

test('the status address is followed, whatever the brand, then the resource is read', async () => {
  for (const header of ['Vendor-AsyncOperation', 'Acme-AsyncOperation', 'Operation-Location']) {
    let looks = 0
    await using fixture = await startWorld(({ method, url, headers }) => {
      if (method === 'PUT') {
        const status = `http://${headers.host}/status`
        const location = `http://${headers.host}/result`
        return {
          status: 201,
          headers: { [header]: status, location, 'retry-after': '7' },
          body: {},
        }
      }
      if (url === '/status') return { status: 200, body: { status: states[looks++] } }
      return { status: 200, body: { at: url } }
    })
    const client = fixture.client()
    const seen: string[] = []
    const answer = await client.request('PUT', '/thing', { body: {} })
    const ended = await client.waitForOperation(answer, { onState: (state) => seen.push(state) })
    assert.deepEqual(ended.body, { at: '/thing' })
    assert.deepEqual(
      fixture.slept,
      [7000, 2000, 2000],
      'the first pace is the server’s, then the default',
    )
    assert.deepEqual(seen, ['Accepted', 'Running', 'SomethingNew', 'Succeeded'])
  }
})

test('a client that is in a hurry looks soon, and comes to the pace of the server', async () => {
  let looks = 0
  await using fixture = await startWorld(({ method, url, headers }) => {
    const pace = { 'operation-location': `http://${headers.host}/status`, 'retry-after': '1' }
    if (method === 'DELETE') return { status: 202, headers: pace }
    const status = ++looks < 8 ? 'Running' : 'Succeeded'
    return { status: 200, headers: pace, body: { status, url } }
  })
  const client = fixture.client({ wait: { firstPollSeconds: 0.05 } })
  await client.waitForOperation(await client.request('DELETE', '/x'))
  assert.deepEqual(fixture.slept, [50, 100, 200, 400, 800, 1000, 1000, 1000])
})

test('a POST ends with what its location says, a DELETE with the last status', async () => {
  await using fixture = await startWorld(({ method, url, headers }) => {
    const base = `http://${headers.host}`
    if (method !== 'GET') {
      const links = { 'vendor-asyncoperation': `${base}/status`, location: `${base}/result` }
      return { status: 202, headers: links }
    }
    return { status: 200, body: url === '/status' ? { status: 'Succeeded' } : { result: 1 } }
  })
  const client = fixture.client()
  const posted = await client.waitForOperation(await client.request('POST', '/x'))
  assert.deepEqual(posted.body, { result: 1 })
  const deleted = await client.waitForOperation(await client.request('DELETE', '/x'))
  assert.deepEqual(deleted.body, { status: 'Succeeded' })
})

test('location alone: 202 goes on, anything else ends, and it may move', async () => {
  await using fixture = await startWorld(({ method, url, headers }) => {
    const base = `http://${headers.host}`
    if (method === 'DELETE') return { status: 202, headers: { location: `${base}/1` } }
    if (url === '/1') return { status: 202, headers: { location: `${base}/2`, 'retry-after': '3' } }
    return { status: 204 }
  })
  const client = fixture.client()
  const ended = await client.waitForOperation(await client.request('DELETE', '/x'))
  assert.equal(ended.status, 204)
  assert.deepEqual(fixture.slept, [2000, 3000])
})

test('no header: the provisioning state of the resource decides', async () => {
  await using fixture = await startWorld(({ method }, count) => ({
    status: method === 'PUT' ? 201 : 200,
    body: { properties: { provisioningState: count < 3 ? 'Pending' : 'Succeeded' }, count },
  }))
  const client = fixture.client()
  const ended = await client.waitForOperation(await client.request('PUT', '/x', { body: {} }))
  assert.deepEqual(ended.body, { properties: { provisioningState: 'Succeeded' }, count: 3 })
})

test('an answer that started nothing comes back as it is', async () => {
  await using fixture = await startWorld(() => ({ status: 200, body: { properties: { a: 1 } } }))
  const client = fixture.client()
  const answer = await client.request('PUT', '/x', { body: {} })
  assert.equal(await client.waitForOperation(answer), answer)
  assert.equal(fixture.asked.length, 1)
})

test('a failed operation is an error with the operation’s own code', async () => {
  const ends = [
    { status: 'Failed', error: { code: 'NoImage', message: 'No such image.' } },
    { status: 'Canceled' },
  ]
  const codes: string[] = []
  for (const end of ends) {
    await using fixture = await startWorld(({ method, headers }) =>
      method === 'PUT'
        ? { status: 201, headers: { 'vendor-asyncoperation': `http://${headers.host}/s` } }
        : { status: 200, body: end },
    )
    const client = fixture.client()
    const answer = await client.request('PUT', '/x', { body: {} })
    codes.push((await errorOf(client.waitForOperation(answer))).code)
  }
  assert.deepEqual(codes, ['NoImage', 'Canceled'])
})

test('the wait ends at its deadline', async () => {
  await using fixture = await startWorld(() => ({
    status: 200,
    body: { properties: { provisioningState: 'Creating' } },
  }))
  const client = fixture.client()
  const answer = await client.request('PUT', '/x', { body: {} })
  await assert.rejects(client.waitForOperation(answer, { deadlineSeconds: 9 }), OperationDeadline)
  assert.equal(fixture.slept.length, 4)
})

test('client credentials', async () => {
  await using fixture = await startWorld(() => ({
    status: 200,
    body: { access_token: 'at', expires_in: '3599', token_type: 'Bearer' },
  }))
  const { url } = fixture
  const token = await clientCredentialsToken({ url, clientId: 'c', clientSecret: 's&=' })
  assert.deepEqual(token, { accessToken: 'at', expiresInSeconds: 3599, refreshToken: undefined })
  const asked = fixture.asked[0]
  assert.equal(asked?.url, '/common/oauth2/token')
  assert.equal(asked?.headers.authorization, undefined)
  assert.equal(asked?.headers['content-type'], 'application/x-www-form-urlencoded')
  assert.deepEqual(Object.fromEntries(new URLSearchParams(asked?.body)), {
    grant_type: 'client_credentials',
    client_id: 'c',
    client_secret: 's&=',
  })
})

test('device code: waits as the answer says until the person is done', async () => {
  const notYet = ['authorization_pending', 'slow_down', 'authorization_pending']
  await using fixture = await startWorld(({ url }, count) => {
    if (url === '/common/oauth2/devicecode') {
      const verification = { verification_uri: 'http://v', user_code: 'ABCD' }
      return {
        status: 200,
        body: { device_code: 'd', ...verification, expires_in: 600, interval: 1 },
      }
    }
    const error = notYet[count - 2]
    if (error !== undefined) return { status: 400, body: { error } }
    return { status: 200, body: { access_token: 'at', expires_in: 60, refresh_token: 'rt' } }
  })
  const prompts: DevicePrompt[] = []
  const tell = (prompt: DevicePrompt) => prompts.push(prompt)
  const { url, timing } = fixture
  const token = await deviceCodeToken({ url, timing, clientId: 'cli', tell })
  assert.equal(token.refreshToken, 'rt')
  assert.deepEqual(fixture.slept, [1000, 1000, 6000, 6000])
  assert.equal(prompts[0]?.userCode, 'ABCD')
})

test('device code: a refusal ends it', async () => {
  await using fixture = await startWorld(({ url }) =>
    url === '/common/oauth2/devicecode'
      ? {
          status: 200,
          body: { device_code: 'd', verification_uri: 'v', user_code: 'u', interval: 1 },
        }
      : { status: 400, body: { error: 'access_denied', error_description: 'No.' } },
  )
  const { url, timing } = fixture
  const error = await errorOf(deviceCodeToken({ url, timing, clientId: 'cli', tell: () => {} }))
  assert.equal(error.code, 'access_denied')
})
