/** The edge as clients see it: order of checks, headers, links, methods, health, draining. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { group, startPlane, subscription } from '#plane/testing/start.ts'
import { awaitedSignal } from '#stores/awaited.ts'
import { createAddressOf } from './client-address.ts'
import type { DirectoryRoute } from './directory.ts'
import { listenForMetrics } from './metrics-listener.ts'
import { rawRequest } from './testing/raw-request.ts'
import { servePlane } from './testing/serve-plane.ts'
import { startEdge } from './testing/start.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const version = 'api-version=2024-01-01'
const note = `${group}/providers/Vendor.Sample/notes/n`
const noteBody = { properties: { title: 'first' } }
const json = { 'Content-Type': 'application/json' }

function put(body: unknown): RequestInit {
  return { method: 'PUT', headers: json, body: JSON.stringify(body) }
}

async function refusal(response: Response): Promise<string> {
  // The manager's error family. The assertions below check it.
  const body = (await response.json()) as { error: { code: string } }
  return `${response.status} ${body.error.code}`
}

describe('one request', () => {
  test('carries the headers of facts 9.1', async () => {
    await using edge = await startEdge()
    const made = await edge.fetch(`${note}?${version}`, put(noteBody))
    assert.equal(made.status, 201)
    assert.match(made.headers.get('x-ms-request-id') ?? '', uuid)
    assert.match(made.headers.get('x-ms-correlation-request-id') ?? '', uuid)
    assert.match(made.headers.get('x-ms-routing-request-id') ?? '', /^LOCAL:20260101T000000Z:/)
    assert.equal(made.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(made.headers.get('cache-control'), 'no-cache')
    assert.equal(made.headers.get('pragma'), 'no-cache')
    assert.equal(made.headers.get('expires'), '-1')
    assert.equal(made.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(made.headers.get('strict-transport-security'), null)
    assert.ok(made.headers.get('date'))
    // The subscription came into being with this request.
    assert.equal(made.headers.get('x-ms-ratelimit-remaining-tenant-writes'), '199')
    const again = await edge.fetch(`${note}?${version}`, put(noteBody))
    assert.equal(again.headers.get('x-ms-ratelimit-remaining-subscription-writes'), '199')
    const etag = made.headers.get('etag') ?? ''
    assert.match(etag, /^"[^"]+"$/)

    const same = await edge.fetch(`${note}?${version}`, { headers: { 'If-None-Match': etag } })
    assert.equal(same.status, 304)
    assert.equal(same.headers.get('content-length'), null)
    const lost = await edge.fetch(`${note}?${version}`, {
      ...put({ properties: { title: 'x' } }),
      headers: { ...json, 'If-Match': '"other"' },
    })
    assert.equal(await refusal(lost), '412 PreconditionFailed')
    const head = await edge.fetch(`${note}?${version}`, { method: 'HEAD' })
    assert.equal(head.status, 204)
    const gone = await edge.fetch(`${note}x?${version}`, { method: 'HEAD' })
    assert.equal(gone.status, 404)
    assert.equal(await gone.text(), '')
  })

  test('tells clients to come by https alone where that is so', async () => {
    const handle = (_: unknown, response: ServerResponse): void => void response.end('here')
    const mounts = [{ prefix: '/page', handle }]
    await using edge = await startEdge({ options: { strictTransport: true, mounts } })
    for (const path of [`${note}?${version}`, '/page/x']) {
      const secure = await edge.fetch(path)
      assert.match(secure.headers.get('strict-transport-security') ?? '', /^max-age=/, path)
    }
  })

  test('takes the caller’s correlation id, and echoes its request id when asked', async () => {
    await using edge = await startEdge()
    const id = '0AF7651C-1111-4222-8333-444455556666'
    const ids = { 'x-ms-correlation-request-id': id, 'x-ms-client-request-id': id }
    const told = await edge.fetch(`${note}?${version}`, {
      headers: { ...ids, 'x-ms-return-client-request-id': 'TRUE' },
    })
    assert.equal(told.headers.get('x-ms-correlation-request-id'), id)
    assert.equal(told.headers.get('x-ms-client-request-id'), id)
    assert.notEqual(told.headers.get('x-ms-request-id'), id)
    const silent = await edge.fetch(`${note}?${version}`, {
      headers: { 'x-ms-client-request-id': id, 'x-ms-correlation-request-id': 'no guid' },
    })
    assert.equal(silent.headers.get('x-ms-client-request-id'), null)
    assert.match(silent.headers.get('x-ms-correlation-request-id') ?? '', uuid)
  })

  test('is checked in the order of facts 9.7', async () => {
    await using edge = await startEdge()
    const bad = { method: 'PUT', headers: { 'Content-Type': 'text/html' }, body: '<' }
    const widget = `${group}/providers/Vendor.Sample/widgets/w`
    const at = async (path: string, as: string, init: RequestInit = bad): Promise<string> =>
      refusal(await edge.fetch(path, { ...init, as }))
    assert.equal(await at('/%zz', ''), '401 AuthenticationFailed')
    assert.equal(await at('/%zz', 'other'), '401 InvalidAuthenticationToken')
    assert.equal(await at('/%zz', 'nobody'), '400 InvalidRequestUri')
    assert.equal(await at(widget, 'nobody'), '400 MissingApiVersionParameter')
    assert.equal(
      await at(`${widget}?api-version=1999-01-01`, 'nobody'),
      '400 InvalidApiVersionParameter',
    )
    assert.equal(await at(`${widget}?${version}`, 'nobody'), '403 AuthorizationFailed')
    assert.equal(await at(`${widget}?${version}`, 'owner'), '415 UnsupportedMediaType')
    assert.equal(await at(`${widget}?${version}`, 'owner', put({})), '400 InvalidRequestContent')
    assert.equal(
      await at(`${group}/providers/Vendor.Sample/widgets?${version}&x=%00`, 'owner', {}),
      '400 InvalidQueryParameter',
    )
  })

  test('of a caller unknown tells where to sign in', async () => {
    await using edge = await startEdge()
    const response = await edge.fetch(note, { as: '' })
    assert.equal(
      response.headers.get('www-authenticate'),
      `Bearer authorization_uri="${edge.url}/common/oauth2/authorize"`,
    )
  })

  test('with a method nobody knows is 405 with Allow, after 401', async () => {
    await using edge = await startEdge()
    for (const method of ['POST', 'PURGE', 'PROPFIND', 'TRACE', 'LINK']) {
      const [answer] = await rawRequest(edge.port, [
        `${method} ${note}?${version} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer owner\r\n\r\n`,
      ])
      assert.equal(answer?.status, 405, method)
      assert.match(answer?.headers['allow'] ?? '', /GET.*PUT/)
      assert.equal(JSON.parse(answer?.body ?? '').error.code, 'MethodNotAllowed')
      const [unknown] = await rawRequest(edge.port, [
        `${method} ${note}?${version} HTTP/1.1\r\nHost: h\r\n\r\n`,
      ])
      assert.equal(unknown?.status, 401, method)
    }
  })

  test('OPTIONS tells what the path takes, and HEAD of a list is GET without a body', async () => {
    await using edge = await startEdge()
    const widgets = `${group}/providers/Vendor.Sample/widgets`
    const allow = async (path: string): Promise<string | null> => {
      const answer = await edge.fetch(path, { method: 'OPTIONS', as: '' })
      assert.equal(answer.status, 204)
      return answer.headers.get('allow')
    }
    assert.equal(await allow(widgets), 'GET, HEAD, OPTIONS')
    assert.equal(await allow(`${widgets}?${version}`), 'GET, HEAD, OPTIONS')
    assert.equal(await allow(`${widgets}/w`), 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS')
    assert.equal(await allow('/healthz'), 'GET, HEAD, OPTIONS')
    assert.equal(await allow('/nowhere'), 'GET, HEAD, PUT, PATCH, DELETE, POST, OPTIONS')
    await edge.fetch(
      `${widgets}/w?${version}`,
      put({ location: 'here', properties: { parts: ['a'] } }),
    )
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => edge.fetch(`${widgets}?${version}`, { method })),
    )
    assert.equal(head?.status, 200)
    assert.equal(head?.headers.get('content-type'), get?.headers.get('content-type'))
    assert.equal(await head?.text(), '')
    const refused = await edge.fetch(`${widgets}?${version}`, { method: 'PUT', body: '{}' })
    assert.equal(
      refused.headers.get('allow'),
      await allow(widgets).then((text) => text?.replace(', OPTIONS', '')),
    )
  })

  test('that takes long leaves links to follow, with the vendor’s word', async () => {
    await using edge = await startEdge({ words: { namespace: 'Vendor', brand: 'Maker' } })
    edge.publicUrl = 'https://plane.example'
    const widget = `${group}/providers/Vendor.Sample/widgets/w`
    const made = await edge.fetch(
      `${widget}?${version}`,
      put({ location: 'here', properties: { parts: ['a'] } }),
    )
    assert.equal(made.status, 201)
    const status = made.headers.get('maker-asyncoperation') ?? ''
    assert.match(status, /^https:\/\/plane\.example\/subscriptions\/.*\?api-version=/)
    assert.match(made.headers.get('location') ?? '', /^https:\/\/plane\.example\/subscriptions\//)
    assert.match(made.headers.get('retry-after') ?? '', /^\d+$/)
    const path = status.replace('https://plane.example', '')
    const poll = await edge.fetch(path)
    assert.equal(poll.status, 200)
    // The shape of facts 9.4.
    const operation = (await poll.json()) as { status: string }
    assert.equal(typeof operation.status, 'string')
  })

  test('for a page gets a link to the next, query kept', async () => {
    await using edge = await startEdge()
    const list = `${group}/providers/Vendor.Sample/notes`
    for (const title of ['a', 'b', 'c']) {
      const made = await edge.fetch(`${list}/${title}?${version}`, put({ properties: { title } }))
      assert.equal(made.status, 201)
    }
    const names: string[] = []
    let next: string | undefined = `${list}?${version}&$top=1&unknown=%C3%A9`
    while (next !== undefined) {
      const page = await edge.fetch(next)
      assert.equal(page.status, 200)
      const body = (await page.json()) as { value: { name: string }[]; nextLink?: string }
      names.push(...body.value.map((item) => item.name))
      next = body.nextLink?.replace(edge.url, '')
      if (next !== undefined) assert.match(next, /\$top=1&unknown=%C3%A9&\$skipToken=[^&]+$/)
    }
    assert.deepEqual(names, ['a', 'b', 'c'])
  })

  test('beyond the allowance is 429; the owner is warned but not refused', async () => {
    const writes = { size: 2, refillPerSecond: 1 }
    const rules = { reads: writes, writes, deletes: writes }
    await using edge = await startEdge({ throttle: { subscription: rules, tenant: rules } })
    assert.equal((await edge.fetch(`${note}?${version}`, put(noteBody))).status, 201)
    const seen: string[] = []
    for (let index = 0; index < 3; index++) {
      seen.push(await refusal(await edge.fetch(`${note}?${version}`, { as: 'nobody' })))
    }
    assert.deepEqual(seen, [
      '403 AuthorizationFailed',
      '403 AuthorizationFailed',
      '429 SubscriptionRequestsThrottled',
    ])
    edge.plane.clock.advance(1)
    assert.equal((await edge.fetch(`${note}?${version}`, { as: 'nobody' })).status, 403)
    for (let index = 0; index < 4; index++) {
      const answer = await edge.fetch(`${note}?${version}`)
      assert.equal(answer.status, 200)
      assert.equal(
        answer.headers.get('x-ms-ratelimit-remaining-subscription-reads'),
        String(Math.max(0, 1 - index)),
      )
    }
  })
})

describe('the directory', () => {
  const routes: readonly DirectoryRoute[] = [
    {
      method: 'POST',
      path: '/directory/groups/{groupId}/members',
      action: 'Directory/groups/write',
      status: 201,
      body: Type.Object({ id: Type.String({ format: 'uuid' }), order: Type.Integer() }),
      run: async (params, body, query, { principal }) => ({
        params,
        body,
        deep: query.get('deep'),
        by: principal.displayName,
      }),
    },
    {
      method: 'DELETE',
      path: '/directory/groups/{groupId}/members',
      action: 'Directory/groups/write',
      status: 204,
      run: async () => undefined,
    },
    {
      method: 'GET',
      path: '/directory/fault',
      action: 'Directory/read',
      status: 200,
      run: async () => {
        throw new TypeError('the password is hunter2')
      },
    },
  ]
  const members = '/directory/groups/g%20%C3%A9/members'
  const id = '0af7651c-1111-4222-8333-444455556666'

  test('runs routes of the table', async () => {
    await using edge = await startEdge({ directoryRoutes: routes })
    const made = await edge.fetch(`${members}?deep=yes`, {
      ...put({ id, order: 1 }),
      method: 'POST',
    })
    assert.equal(made.status, 201)
    assert.deepEqual(await made.json(), {
      params: { groupId: 'g é' },
      body: { id, order: 1 },
      deep: 'yes',
      by: 'owner',
    })
    assert.equal(made.headers.get('x-ms-ratelimit-remaining-tenant-writes'), '199')
    assert.equal((await edge.fetch(members, { method: 'DELETE' })).status, 204)
  })

  test('refuses in order, all problems of a body at once', async () => {
    await using edge = await startEdge({ directoryRoutes: routes })
    const post = (body: unknown, as = 'owner') =>
      edge.fetch(members, { ...put(body), method: 'POST', as })
    assert.equal(await refusal(await post({}, '')), '401 AuthenticationFailed')
    assert.equal(await refusal(await post('{', 'nobody')), '403 AuthorizationFailed')
    const wrong = (await (await post({ id: 'x', order: 'y' })).json()) as {
      error: { details: { target: string }[] }
    }
    assert.deepEqual(wrong.error.details.map((detail) => detail.target).sort(), ['id', 'order'])
    const get = await edge.fetch(members)
    assert.equal(get.headers.get('allow'), 'POST, DELETE, OPTIONS')
    assert.equal(await refusal(get), '405 MethodNotAllowed')
    assert.equal(await refusal(await edge.fetch('/directory/none')), '404 NotFound')
    assert.equal(
      await refusal(await edge.fetch('/directory/none', { as: '' })),
      '401 AuthenticationFailed',
    )
  })

  test('a fault is 500 with its correlation id; the log has the rest', async () => {
    await using edge = await startEdge({ directoryRoutes: routes })
    const response = await edge.fetch('/directory/fault')
    const text = await response.text()
    const id = response.headers.get('x-ms-correlation-request-id') ?? ''
    assert.equal(response.status, 500)
    assert.ok(text.includes(id))
    assert.doesNotMatch(text, /hunter2|TypeError/)
    const lines = edge.logged.filter(({ level }) => level === 'error')
    assert.ok(JSON.stringify(lines).includes(id))
    assert.deepEqual(
      lines.map(({ fields }) => 'err' in fields && String(fields.err)),
      ['TypeError: the password is hunter2'],
    )
  })
})

test('a failure that cannot be written cuts its connection and nothing else', async () => {
  const run = async (): Promise<never> => {
    throw refuse.Conflict({ id: '/a' }, { headers: { 'Retry-After': 'a\nb' } })
  }
  await using edge = await startEdge({
    directoryRoutes: [{ method: 'GET', path: '/directory/odd', action: 'a', status: 200, run }],
  })
  await assert.rejects(edge.fetch('/directory/odd'))
  assert.equal((await edge.fetch('/healthz')).status, 200)
  assert.deepEqual(
    edge.logged.filter(({ level }) => level === 'error').map(({ message }) => message),
    ['a failure could not be answered'],
  )
})

describe('the open endpoints', () => {
  test('answer without a token', async () => {
    await using edge = await startEdge({
      options: { openapi: (path) => (path === 'a/1.json' ? '{"openapi":"3.1.0"}' : undefined) },
    })
    const get = (path: string) => edge.fetch(path, { as: '' })
    assert.deepEqual(await (await get('/healthz')).json(), { status: 'ok' })
    assert.equal((await get('/readyz')).status, 200)
    assert.deepEqual(await (await get('/openapi/a/1.json')).json(), { openapi: '3.1.0' })
    assert.equal(await refusal(await get('/openapi/b')), '404 NotFound')
    assert.equal((await edge.fetch('/healthz', { method: 'HEAD', as: '' })).status, 200)
    assert.equal(await refusal(await edge.fetch('/healthz', put({}))), '405 MethodNotAllowed')
  })

  test('readiness names what is not ready', async () => {
    await using edge = await startEdge({
      options: { readiness: async () => [{ name: 'store', ok: false, reason: 'closed' }] },
    })
    const response = await edge.fetch('/readyz')
    assert.equal(response.status, 503)
    assert.match(await response.text(), /"name":"store","ok":false,"reason":"closed"/)
  })

  test('metrics count from the start, by method, type and class', async () => {
    await using edge = await startEdge()
    await edge.fetch(`${note}?${version}`, put(noteBody))
    for (let index = 0; index < 3; index++) await edge.fetch(`${note}?${version}`)
    await edge.fetch(`${note}x?${version}`)
    await edge.fetch('/nothing/here/at/all')
    const response = await edge.fetch('/metrics', { as: '' })
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
    const text = await response.text()
    const type = 'type="Vendor.Sample/notes"'
    assert.ok(text.includes(`requests_total{method="GET",${type},status="2xx"} 3`), text)
    assert.ok(text.includes(`requests_total{method="GET",${type},status="4xx"} 1`))
    assert.ok(text.includes(`requests_total{method="PUT",${type},status="2xx"} 1`))
    assert.ok(text.includes('requests_total{method="GET",type="unlocated",status="4xx"} 1'))
    assert.ok(text.includes(`duration_seconds_count{method="GET",${type}} 4`))
    assert.ok(text.includes(`duration_seconds_bucket{method="GET",${type},le="+Inf"} 4`))
    assert.match(text, /process_cpu_seconds_total/)
    assert.match(text, /armature_http_requests_running 1/)
    assert.match(text, /armature_http_requests_throttled_total 0/)
  })

  test('metrics are made once for all who ask at the same time', async () => {
    let asked = 0
    const values = async (): Promise<readonly { value: number }[]> => {
      asked++
      await new Promise((resolve) => setTimeout(resolve, 50))
      return [{ value: asked }]
    }
    const source = { name: 'armature_asked', type: 'gauge', help: 'Asked', values } as const
    await using edge = await startEdge({ options: { metricSources: [source] } })
    await edge.server.scrape()
    const all = await Promise.all(Array.from({ length: 100 }, () => edge.server.scrape()))
    assert.equal(asked, 2)
    assert.match(all[0]?.text ?? '', /^armature_asked 2$/m)
  })

  test('metrics are not here when they have an address of their own, or none', async () => {
    await using edge = await startEdge({ options: { publishesMetrics: false } })
    await edge.fetch('/healthz')
    assert.equal((await edge.fetch('/metrics', { as: '' })).status, 404)
    const own = { host: '127.0.0.1', port: 0 }
    await using listener = await listenForMetrics(own, () => edge.server.scrape())
    const at = (path: string, method = 'GET') =>
      fetch(`http://127.0.0.1:${listener.port}${path}`, { method })
    const answer = await at('/metrics')
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
    assert.match(await answer.text(), /armature_http_requests_total\{method="GET",type="healthz"/)
    assert.equal((await at('/metrics', 'POST')).status, 405)
    assert.equal((await at('/healthz')).status, 404)
  })

  test('identity’s paths reach it untouched', async () => {
    await using edge = await startEdge()
    for (const path of [
      '/common/oauth2/authorize',
      '/.well-known/openid-configuration',
      '/signed-in',
      '/organizations/v2.0/.well-known/openid-configuration',
      '/adfs/discovery/keys',
      '/consumers/oauth2/v2.0/token',
      '/v2.0/.well-known/openid-configuration',
      `/${subscription}/oauth2/token`,
      `/${subscription}/v2.0/.well-known/openid-configuration`,
    ]) {
      const response = await edge.fetch(path, { method: 'POST', body: 'a=b&c', as: '' })
      assert.equal(response.headers.get('content-type'), 'text/plain', path)
      assert.equal(await response.text(), 'a=b&c', path)
    }
    assert.equal((await edge.fetch('/subscriptions/oauth2/token', { as: '' })).status, 401)
  })
})

describe('the sign-in’s addresses', () => {
  const anonymous = { size: 3, refillPerSecond: 0.001 }

  test('have an allowance per address, and a refusal in their own form', async () => {
    await using edge = await startEdge({
      throttle: { anonymous, allPrincipalsFactor: 100 },
      options: { addressOf: createAddressOf(['127.0.0.1']) },
    })
    const from = (address: string, path: string) =>
      edge.fetch(path, { method: 'POST', headers: { 'x-forwarded-for': address }, as: '' })
    for (let at = 0; at < 3; at++) {
      assert.equal((await from('192.0.2.1', '/common/oauth2/token')).status, 200)
    }
    const refused = await from('192.0.2.1', '/consumers/oauth2/v2.0/token')
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('retry-after'), '1000')
    assert.equal(Object(await refused.json()).error, 'temporarily_unavailable')
    assert.equal((await from('192.0.2.2', '/common/oauth2/token')).status, 200)
    // Documents are not counted, where somebody reads them and where they are.
    const read = (path: string) =>
      edge.fetch(path, { headers: { 'x-forwarded-for': '192.0.2.1' }, as: '' })
    for (const path of ['/common/discovery/keys', '/organizations/v2.0/.well-known/x']) {
      assert.equal((await read(path)).status, 200, path)
      assert.equal((await from('192.0.2.1', path)).status, 429, path)
    }
    assert.equal((await read('/common/oauth2/interaction/.well-known/x')).status, 429)
    // One customer of IPv6 has a whole network of addresses.
    for (let at = 0; at < 3; at++) await from(`2001:db8::${at}`, '/common/oauth2/token')
    assert.equal((await from('2001:db8::4', '/common/oauth2/token')).status, 429)
  })

  test('pages of other sites use up an allowance of their own, of sign-ins and of refusals', async () => {
    await using edge = await startEdge({ throttle: { anonymous, allPrincipalsFactor: 100 } })
    const statuses = async (path: string, headers: Readonly<Record<string, string>>) => {
      const all: number[] = []
      for (let at = 0; at < 4; at++) all.push((await edge.fetch(path, { headers, as: '' })).status)
      return all
    }
    const { host } = new URL(edge.url)
    const pages = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: `http://${host}` },
      { origin: 'null' },
      { origin: 'http://elsewhere.example' },
      // Without a click: a script sends a page somewhere again and again, or has it fetched ahead.
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' },
      {
        'sec-fetch-site': 'none',
        'sec-fetch-dest': 'document',
        'sec-purpose': 'prefetch;prerender',
      },
    ]
    const own = [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
      { origin: `http://${host}` },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document', 'sec-fetch-user': '?1' },
    ]
    for (const [path, good] of [
      ['/common/oauth2/token', 200],
      ['/subscriptions?api-version=2022-12-01', 401],
    ] as const) {
      assert.deepEqual(await statuses(path, pages[0] ?? {}), [good, good, good, 429])
      for (const headers of pages)
        assert.ok((await statuses(path, headers)).every((one) => one === 429))
      assert.deepEqual(await statuses(path, own[0] ?? {}), [good, good, good, 429])
      for (const headers of own)
        assert.ok((await statuses(path, headers)).every((one) => one === 429))
    }
  })

  test('an area that answers itself and costs something has the same allowance', async () => {
    const handle = (_: unknown, response: ServerResponse): void => void response.end('here')
    await using edge = await startEdge({
      throttle: { anonymous, allPrincipalsFactor: 100 },
      options: {
        mounts: [
          { prefix: '/counted', handle, isThrottled: true },
          { prefix: '/free', handle },
        ],
      },
    })
    const statuses = async (path: string) => {
      const all: number[] = []
      for (let at = 0; at < 5; at++) all.push((await edge.fetch(path, { as: '' })).status)
      return all
    }
    assert.deepEqual(await statuses('/counted/x'), [200, 200, 200, 429, 429])
    assert.deepEqual(await statuses('/free/x'), [200, 200, 200, 200, 200])
  })

  test('where a sign-in begins, all addresses have one together, and nobody is kept from the first few', async () => {
    await using edge = await startEdge({
      throttle: { anonymous: { size: 30, refillPerSecond: 0.001 }, allPrincipalsFactor: 1 },
      options: { addressOf: createAddressOf(['127.0.0.1']) },
    })
    // Each leaves a row.
    const pages = ['devicecode', 'deviceauth', 'logout', 'authorize']
    const starts = async (address: string, times: number): Promise<readonly number[]> => {
      const all: number[] = []
      for (let at = 0; at < times; at++) {
        const headers = { 'x-forwarded-for': address }
        const path = `/common/oauth2/${pages[at % pages.length]}`
        all.push((await edge.fetch(path, { headers, as: '' })).status)
      }
      return all
    }
    const served = (all: readonly number[]): number => all.filter((one) => one === 200).length
    assert.equal(served(await starts('192.0.2.1', 30)), 30)
    assert.equal(served(await starts('192.0.2.2', 12)), 10)
    // A customer of IPv6 may have a /48.
    assert.equal(served(await starts('2001:db8:1:1::1', 12)), 10)
    assert.equal(served(await starts('2001:db8:1:2::1', 12)), 0)
    assert.equal(served(await starts('2001:db8:2:1::1', 12)), 10)
  })
})

describe('requests without a good token', () => {
  const anonymous = { size: 3, refillPerSecond: 0.001 }

  test('have an allowance of refusals for each address; who has a good token is not harmed', async () => {
    await using edge = await startEdge({
      throttle: { anonymous },
      options: { addressOf: createAddressOf(['127.0.0.1']) },
    })
    const from = (address: string, as: string, path = '/directory/groups') =>
      edge.fetch(path, { headers: { 'x-forwarded-for': address }, as })
    assert.equal((await from('192.0.2.1', '')).status, 401)
    assert.equal((await from('192.0.2.1', 'nobody known')).status, 401)
    assert.equal((await from('192.0.2.1', '', '/not/there')).status, 401)
    for (const as of ['', 'nobody known']) {
      const refused = await from('192.0.2.1', as)
      assert.equal(refused.status, 429)
      assert.equal(refused.headers.get('retry-after'), '1000')
    }
    const known = await from('192.0.2.1', 'owner')
    assert.ok(known.status !== 401 && known.status !== 429, `${known.status}`)
    assert.equal((await from('192.0.2.2', '')).status, 401)
  })
})

describe('the log', () => {
  test('has one line per request, and never a token', async () => {
    await using edge = await startEdge()
    await edge.fetch(`${note}?${version}&sig=hush`, put(noteBody))
    await edge.fetch(note, { as: 'a-secret-token' })
    assert.equal(edge.logged.filter(({ message }) => message === 'request').length, 2)
    assert.doesNotMatch(JSON.stringify(edge.logged), /hush|secret-token|Bearer/)
  })
})

describe('time', () => {
  function gate(): { readonly open: () => void; readonly wait: Promise<void> } {
    let open = (): void => {}
    const wait = new Promise<void>((resolve) => {
      open = resolve
    })
    return { open, wait }
  }

  function waiting(started: () => void, until: Promise<void>): readonly DirectoryRoute[] {
    return [
      {
        method: 'GET',
        path: '/directory/slow',
        action: 'Directory/read',
        status: 200,
        run: async () => {
          started()
          await until
          return { done: true }
        },
      },
    ]
  }

  test('a request past its deadline is 504, and what comes later is dropped', async () => {
    const started = gate()
    const until = gate()
    let now = 0
    await using edge = await startEdge({
      directoryRoutes: waiting(started.open, until.wait),
      ticks: () => now,
    })
    const answer = edge.fetch('/directory/slow')
    await started.wait
    now = 61_000
    assert.equal(await refusal(await answer), '504 GatewayTimeout')
    until.open()
    assert.equal((await edge.fetch('/healthz')).status, 200)
    assert.equal(edge.logged.filter(({ level }) => level === 'error').length, 0)
  })

  test('what a request asks the store while it reads waits no longer than its client, and what a write asks does', async () => {
    for (const [method, leaves] of [
      ['GET', true],
      ['POST', false],
    ] as const) {
      const started = gate()
      let signal: ReturnType<typeof awaitedSignal>
      const until = gate()
      const run = async () => {
        signal = awaitedSignal()
        started.open()
        await until.wait
        return { done: true }
      }
      const path = '/directory/slow'
      const route = { method, path, action: 'Directory/read', status: 200, run } as const
      await using edge = await startEdge({ directoryRoutes: [route] })
      const client = new AbortController()
      const answer = edge.fetch(path, { method, signal: client.signal })
      await started.wait
      assert.equal(signal !== undefined, leaves)
      client.abort()
      await assert.rejects(answer)
      if (signal instanceof AbortSignal && !signal.aborted) await once(signal, 'abort')
      until.open()
    }
  })

  test('an action that counts as a read goes on without its client: what it has done elsewhere is recorded', async () => {
    await using t = await startPlane({ reconcile: false })
    const widget = `${group}/providers/Vendor.Sample/widgets/w`
    await t.call('PUT', widget, { location: 'here', properties: { parts: ['a'] } })
    const seen: unknown[] = []
    const { plane } = t
    const watched: typeof plane = {
      ...plane,
      run(route, input) {
        seen.push(route.counts, awaitedSignal() !== undefined)
        return plane.run(route, input)
      },
    }
    await using edge = await servePlane(watched)
    for (const [method, action] of [
      ['GET', 'count'],
      ['POST', 'measure'],
    ] as const) {
      const path = `${edge.url}${widget}/${action}?api-version=2024-01-01`
      assert.equal((await fetch(path, { method })).status, 200)
    }
    assert.deepEqual(seen, ['reads', true, 'reads', false])
  })

  test('more requests of a principal at once than may run are 429, until one of them ends', async () => {
    const started = gate()
    const until = gate()
    await using edge = await startEdge({
      directoryRoutes: waiting(started.open, until.wait),
      throttle: { atOnceMax: 1, refusesOwner: true },
    })
    const slow = edge.fetch('/directory/slow')
    await started.wait
    const more = await edge.fetch(`${note}?${version}`)
    assert.equal(more.headers.get('retry-after'), '1')
    assert.equal(await refusal(more), '429 TooManyRequests')
    // Another principal has its own.
    assert.notEqual((await edge.fetch(`${note}?${version}`, { as: 'nobody' })).status, 429)
    until.open()
    assert.equal((await slow).status, 200)
    assert.notEqual((await edge.fetch(`${note}?${version}`)).status, 429)
  })

  test('closing lets running requests end, and takes no new ones', async () => {
    const started = gate()
    const until = gate()
    await using edge = await startEdge({ directoryRoutes: waiting(started.open, until.wait) })
    const answer = edge.fetch('/directory/slow')
    await started.wait
    const closed = edge.server.close({ drainSeconds: 60 })
    await assert.rejects(rejectsOrFails(edge.port))
    until.open()
    const response = await answer
    assert.deepEqual(await response.json(), { done: true })
    assert.equal(response.headers.get('connection'), 'close')
    await closed
  })

  test('closing cuts what does not end in time', async () => {
    const started = gate()
    const until = gate()
    await using edge = await startEdge({ directoryRoutes: waiting(started.open, until.wait) })
    const answer = edge.fetch('/directory/slow')
    await started.wait
    const cut = assert.rejects(answer)
    await edge.server.close({ drainSeconds: 0 })
    await cut
    until.open()
  })

  /** Rejects if nobody accepts any more. Tries again while the listener is being closed. */
  async function rejectsOrFails(port: number): Promise<void> {
    for (let tries = 0; tries < 100; tries++) await fetch(`http://127.0.0.1:${port}/healthz`)
  }
})
