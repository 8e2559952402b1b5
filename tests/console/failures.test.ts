/** What the page makes of answers that break off, and of a server that is busy. */

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'

/** What is used of modules that belong to a page, whose types are not those of a test. */
interface Failure extends Error {
  readonly status: number
  readonly problem: { readonly code: string }
}
interface Client {
  readonly ApiFailure: new () => Failure
  send(method: string, path: string): Promise<unknown>
  download(path: string): Promise<unknown>
}
interface Retry {
  isRetried(failures: number, error: Error): boolean
  retryDelay(failures: number, error: Error): number
}

const sources = new URL('../../console/src/api/', import.meta.url)

/** How the API answers; signing in works always. */
let answer: RequestListener
let client: Client
let retry: Retry

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://console.test')
  if (pathname === '/common/oauth2/authorize') {
    const state = searchParams.get('state')
    response.writeHead(302, { location: `/console/signed-in?code=c&state=${state}` }).end()
  } else if (pathname === '/common/oauth2/token') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ access_token: 'a.b.c', expires_in: 3_600 }))
  } else if (pathname.startsWith('/console/')) response.end('')
  else answer(request, response)
})

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const baseURI = `http://127.0.0.1:${port}/console/`
  // What the modules read of the page that they belong to.
  Object.assign(globalThis, { document: { baseURI, documentElement: { dataset: {} } } })
  client = (await import(new URL('client.ts', sources).href)) as Client
  retry = (await import(new URL('retry.ts', sources).href)) as Retry
})
after(() => {
  server.close()
  server.closeAllConnections()
})

async function failureOf(work: Promise<unknown>) {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(failure instanceof client.ApiFailure, String(failure))
  return failure
}

test('an answer that breaks off after its head is no answer, of a read as of a file', async () => {
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('{"value": [')
    setImmediate(() => response.destroy())
  }
  for (const work of [client.send('GET', '/subscriptions'), client.download('/file')]) {
    const { status, problem } = await failureOf(work)
    assert.deepEqual([status, problem.code], [0, 'NoAnswer'])
  }
})

test('a read is sent again when a busy server says, and a refusal is not repeated', async () => {
  const failureWith = (status: number, headers = {}) => {
    answer = (_, response) => response.writeHead(status, headers).end('{}')
    return failureOf(client.send('GET', '/subscriptions'))
  }
  for (const status of [408, 429, 503]) {
    const answered = await failureWith(status, { 'retry-after': '4' })
    assert.deepEqual([retry.isRetried(0, answered), retry.retryDelay(0, answered)], [true, 4_000])
    assert.equal(retry.isRetried(3, answered), false)
    const long = await failureWith(status, { 'retry-after': '60' })
    assert.equal(retry.isRetried(0, long), false)
  }
  const unanswered = await failureWith(503)
  assert.deepEqual(
    [0, 1, 2].map((count) => retry.retryDelay(count, unanswered)),
    [1_000, 2_000, 4_000],
  )
  for (const status of [400, 403, 404, 409, 412, 500]) {
    assert.equal(retry.isRetried(0, await failureWith(status)), false, String(status))
  }
  assert.equal(retry.isRetried(0, new TypeError('a fault of the page')), false)
})
