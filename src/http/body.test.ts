/** Bodies on the wire: framing, size, encodings, and bytes that nobody reads. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { refuse } from '#kernel/error.ts'
import { group, owner } from '#plane/testing/start.ts'
import { until } from '../../tests/until.ts'
import type { DirectoryRoute } from './directory.ts'
import { type RawAnswer, rawRequest } from './testing/raw-request.ts'
import { startEdge } from './testing/start.ts'

const path = `${group}/providers/Vendor.Sample/notes/n?api-version=2024-01-01`
const fit = '{"properties":{"title":"first"}}'

function head(method: string, ...fields: readonly string[]): string {
  return `${[`${method} ${path} HTTP/1.1`, 'Host: h', 'Authorization: Bearer owner', ...fields].join('\r\n')}\r\n\r\n`
}

function told(answer: RawAnswer | undefined): string {
  if (answer === undefined) return 'nothing'
  const body = answer.body === '' ? {} : JSON.parse(answer.body)
  return `${answer.status} ${body.error?.code ?? body.name ?? ''}`.trim()
}

function chunked(...chunks: readonly string[]): string {
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`
}

describe('a body', () => {
  const cases: readonly (readonly [name: string, fields: string[], body: string, told: RegExp])[] =
    [
      ['with its length', ['Content-Length: 32', 'Content-Type: application/json'], fit, /^201 n/],
      ['without a media type', ['Content-Length: 32'], fit, /^201 n/],
      [
        'of a +json type',
        ['Content-Length: 32', 'Content-Type: application/merge-patch+json; charset="UTF-8"'],
        fit,
        /^201 n/,
      ],
      [
        'in chunks',
        ['Transfer-Encoding: chunked'],
        chunked(fit.slice(0, 5), fit.slice(5)),
        /^201 n/,
      ],
      ['of no chunks', ['Transfer-Encoding: chunked'], chunked(), /^400 InvalidRequestContent/],
      ['that is missing', [], '', /^400 InvalidRequestContent/],
      ['of length 0', ['Content-Length: 0'], '', /^400 InvalidRequestContent/],
      ['of another type', ['Content-Length: 32', 'Content-Type: text/plain'], fit, /^415 Unsup/],
      ['of a nonsense type', ['Content-Length: 32', 'Content-Type: ;;json'], fit, /^415 Unsup/],
      [
        'in another charset',
        ['Content-Length: 32', 'Content-Type: application/json; charset=utf-16'],
        fit,
        /^415 Unsup/,
      ],
      ['compressed', ['Content-Length: 32', 'Content-Encoding: gzip'], fit, /^415 Unsup/],
      ['of identity encoding', ['Content-Length: 32', 'Content-Encoding: identity'], fit, /^201 n/],
      ['announced too large', ['Content-Length: 5000'], '', /^413 RequestEntityTooLarge/],
      [
        'that grows too large',
        ['Transfer-Encoding: chunked'],
        chunked(' '.repeat(2000), ' '.repeat(2001)),
        /^413 RequestEntityTooLarge/,
      ],
      [
        'too deep',
        ['Content-Length: 130'],
        '['.repeat(65) + ']'.repeat(65),
        /^400 InvalidRequestContent/,
      ],
      ['that is not UTF-8', ['Content-Length: 3'], '"\xff"', /^400 InvalidRequestContent/],
      ['of a negative length', ['Content-Length: -1'], fit, /^400 BadRequest/],
      ['of two lengths', ['Content-Length: 32', 'Content-Length: 31'], fit, /^400 BadRequest/],
      [
        'framed twice',
        ['Content-Length: 32', 'Transfer-Encoding: chunked'],
        chunked(fit),
        /^400 BadRequest/,
      ],
      ['with a broken chunk', ['Transfer-Encoding: chunked'], 'zz\r\n', /^400 BadRequest/],
    ]
  for (const [name, fields, body, expected] of cases) {
    test(name, async () => {
      await using edge = await startEdge({ limits: { bodyBytesMax: 4000 } })
      const [answer] = await rawRequest(edge.port, [head('PUT', ...fields) + body])
      assert.match(told(answer), expected)
      assert.equal((await edge.fetch('/healthz')).status, 200)
    })
  }

  test('arriving byte by byte is put together', async () => {
    await using edge = await startEdge()
    const socket = connect({ port: edge.port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    for (const byte of head('PUT', 'Content-Length: 32') + fit) {
      socket.write(byte)
      await new Promise(setImmediate)
    }
    const [chunk] = await once(socket, 'data')
    assert.match(String(chunk), /^HTTP\/1\.1 201 /)
    socket.destroy()
  })

  test('cut off in the middle writes nothing', async () => {
    await using edge = await startEdge()
    const socket = connect(edge.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.end(head('PUT', 'Content-Length: 32') + fit.slice(0, 10))
    await once(socket.resume(), 'close')
    assert.equal((await edge.fetch(path)).status, 404)
    assert.deepEqual(
      edge.logged.filter(({ level }) => level === 'error'),
      [],
    )
  })

  test('of a request that has no use for one is swallowed; the connection goes on', async () => {
    await using edge = await startEdge()
    const first = head('GET', 'Content-Length: 100000') + 'x'.repeat(100_000)
    const answers = await rawRequest(edge.port, [first, head('GET')], { answers: 2 })
    assert.deepEqual(answers.map(told), ['404 SubscriptionNotFound', '404 SubscriptionNotFound'])
  })

  test('nobody reads is not read without end', async () => {
    await using edge = await startEdge({
      limits: { bodyBytesMax: 1000, businessBodyBytesMax: 1000 },
    })
    const socket = connect(edge.port, '127.0.0.1')
    await once(socket, 'connect')
    let sent = 0
    socket.on('error', () => {})
    socket.resume()
    socket.write(head('GET', 'Transfer-Encoding: chunked'))
    const piece = `1000\r\n${'x'.repeat(4096)}\r\n`
    // Ends only if the server cuts the connection.
    while (!socket.destroyed && socket.writable) {
      sent += piece.length
      if (!socket.write(piece))
        await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {})
      else await new Promise(setImmediate)
    }
    assert.ok(sent > 2000)
    assert.equal((await edge.fetch('/healthz')).status, 200)
  })

  test('is asked for only from those who may send it', async () => {
    await using edge = await startEdge()
    const fields = ['Content-Length: 32', 'Expect: 100-continue']
    const [first, second] = await rawRequest(edge.port, [head('PUT', ...fields), fit], {
      answers: 2,
    })
    assert.equal(first?.status, 100)
    assert.match(told(second), /^201 n/)
    const denied = head('PUT', ...fields).replace('owner', 'nobody')
    const answers = await rawRequest(edge.port, [denied], { answers: 2 })
    assert.deepEqual(answers.map(told), ['403 AuthorizationFailed'])
    assert.equal(answers[0]?.headers['connection'], 'close')
    const [other] = await rawRequest(edge.port, [head('PUT', 'Expect: cake')])
    assert.match(told(other), /^417 ExpectationFailed/)
  })
})

describe('what is not HTTP', () => {
  const broken: readonly (readonly [name: string, bytes: string, told: RegExp])[] = [
    ['garbage', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n', /^400 BadRequest/],
    ['a NUL in a header', `GET / HTTP/1.1\r\nHost: h\r\nA: \0\r\n\r\n`, /^400 BadRequest/],
    ['a space in the path', 'GET /a b HTTP/1.1\r\nHost: h\r\n\r\n', /^400 BadRequest/],
    [
      'too many headers',
      `GET / HTTP/1.1\r\nHost: h\r\nA: ${'a'.repeat(40_000)}\r\n\r\n`,
      /^431 RequestHeaderFieldsTooLarge/,
    ],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', /^400 BadRequest/],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: h\r\nhOST: i\r\n\r\n', /^400 BadRequest/],
    ['an unknown method', 'FROB / HTTP/1.1\r\nHost: h\r\n\r\n', /^400 BadRequest/],
  ]
  for (const [name, bytes, expected] of broken) {
    test(`${name} is refused in the manager's family`, async () => {
      await using edge = await startEdge()
      const [answer] = await rawRequest(edge.port, [bytes])
      assert.match(told(answer), expected)
      assert.equal(answer?.headers['content-type'], 'application/json; charset=utf-8')
      assert.equal((await edge.fetch('/healthz')).status, 200)
    })
  }

  test('is answered before its sender is cut off, however much of it is still to come', async () => {
    await using edge = await startEdge()
    const socket = connect(edge.port, '127.0.0.1')
    const read: Buffer[] = []
    socket.on('data', (chunk) => read.push(chunk)).pause()
    const cut = once(socket, 'close')
    const send = (bytes: string | Buffer) =>
      new Promise<void>((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(error) : resolve()))
      })
    await send(`PUT /a b HTTP/1.1\r\nHost: h\r\nContent-Length: ${16 * 1024 * 1024}\r\n\r\n`)
    for (let sent = 0; sent < 16; sent++) await send(Buffer.alloc(1024 * 1024, 'x'))
    socket.end()
    socket.resume()
    await cut
    assert.match(Buffer.concat(read).toString(), /^HTTP\/1\.1 400 .*BadRequest/s)
  })

  test('HTTP/1.0 is served', async () => {
    await using edge = await startEdge()
    const [answer] = await rawRequest(edge.port, ['GET /healthz HTTP/1.0\r\n\r\n'])
    assert.equal(answer?.status, 200)
  })
})

describe('a stream', () => {
  function streaming(body: () => AsyncIterable<Uint8Array>): readonly DirectoryRoute[] {
    return [
      {
        method: 'GET',
        path: '/directory/stream',
        action: 'a',
        status: 200,
        run: async () => body(),
      },
    ]
  }

  test('is produced no faster than it is read, and stopped when its reader goes', async () => {
    let produced = 0
    let stopped = (): void => {}
    const end = new Promise<void>((resolve) => {
      stopped = resolve
    })
    const routes = streaming(async function* () {
      try {
        for (;;) {
          produced += 1
          yield Buffer.alloc(65_536)
        }
      } finally {
        stopped()
      }
    })
    await using edge = await startEdge({ directoryRoutes: routes })
    const socket = connect(edge.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(head('GET').replace(path, '/directory/stream'))
    await once(socket, 'readable')
    // The producer has stopped if many turns of the loop bring nothing new.
    let before = -1
    while (before !== produced) {
      before = produced
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    }
    assert.ok(produced < 1000, `${produced} pieces made for a reader that does not read`)
    socket.destroy()
    await end
    assert.deepEqual(
      edge.logged.filter(({ level }) => level === 'error'),
      [],
    )
  })

  test('that fails cuts the connection, so that nobody takes a part for the whole', async () => {
    const routes = streaming(async function* () {
      yield Buffer.from('first part')
      throw new Error('the engine went away')
    })
    await using edge = await startEdge({ directoryRoutes: routes })
    await assert.rejects(edge.fetch('/directory/stream').then((response) => response.text()))
    assert.equal(edge.logged.filter(({ level }) => level === 'error').length, 1)
  })
})

function thingsRoute(run: DirectoryRoute['run']): DirectoryRoute {
  return {
    method: 'POST',
    path: '/directory/things',
    action: 'Directory/things/write',
    status: 201,
    body: { type: 'object' } as NonNullable<DirectoryRoute['body']>,
    run,
  }
}

test('a body that comes after its caller was revoked changes nothing', async () => {
  const may = { signIn: true, act: true }
  const seen = Promise.withResolvers<void>()
  let heard = seen
  const done: unknown[] = []
  const route = thingsRoute(async (_, given) => {
    done.push(given)
    return {}
  })
  await using edge = await startEdge({
    directoryRoutes: [route],
    options: {
      authenticate() {
        if (!may.signIn) throw refuse.InvalidAuthenticationToken({ reason: 'it was revoked' })
        return owner
      },
      authorizeAction(action, { id }) {
        heard.resolve()
        if (may.act) return
        throw refuse.AuthorizationFailed({ client: 'x', principalId: id, action, scope: '/' })
      },
    },
  })
  for (const [right, status] of [
    ['signIn', 401],
    ['act', 403],
  ] as const) {
    heard = Promise.withResolvers<void>()
    const socket = connect(edge.port, '127.0.0.1')
    const answer = once(socket, 'data')
    const fields = 'Host: h\r\nAuthorization: Bearer owner\r\nContent-Length: 2\r\n'
    socket.write(`POST /directory/things HTTP/1.1\r\n${fields}\r\n{`)
    await heard.promise
    may[right] = false
    socket.write('}')
    const [head] = await answer
    assert.match(String(head), new RegExp(`^HTTP/1.1 ${status} `))
    socket.destroy()
    may[right] = true
  }
  assert.deepEqual(done, [])
})

test('a caller whose body is there already is authorized once, and one whose body comes later again', async () => {
  let count = 0
  let heard = Promise.withResolvers<void>()
  await using edge = await startEdge({
    directoryRoutes: [thingsRoute(async () => ({}))],
    options: {
      // As where a database server has to be asked.
      async authenticate() {
        await new Promise((resolve) => setImmediate(resolve))
        return owner
      },
      authorizeAction() {
        count++
        heard.resolve()
      },
    },
  })
  const fields = 'Host: h\r\nAuthorization: Bearer owner\r\nContent-Length: 2\r\n'
  const start = `POST /directory/things HTTP/1.1\r\n${fields}\r\n`
  assert.match(told((await rawRequest(edge.port, [`${start}{}`]))[0]), /^201/)
  assert.equal(count, 1)
  heard = Promise.withResolvers<void>()
  const socket = connect(edge.port, '127.0.0.1')
  const answer = once(socket, 'data')
  socket.write(`${start}{`)
  await heard.promise
  socket.write('}')
  assert.match(String((await answer)[0]), /^HTTP\/1.1 201 /)
  assert.equal(count, 3)
  socket.destroy()
})

test('what was sent is kept nowhere once it is answered, though its connection stays', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const bodies: WeakRef<object>[] = []
  const route = thingsRoute(async (_params, body) => {
    bodies.push(new WeakRef(Object(body)))
    // As most answers, it is made in a later turn.
    await new Promise((done) => setImmediate(done))
    return {}
  })
  await using edge = await startEdge({ directoryRoutes: [route] })
  const request = {
    method: 'POST',
    body: '{"a":{}}',
    headers: { 'content-type': 'application/json' },
  }
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => edge.fetch('/directory/things', request)),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  await until(() => {
    collect()
    return bodies.length === 5 && bodies.every((body) => body.deref() === undefined)
  })
})

test('short bodies of many objects are taken a few at a time, others at once', async () => {
  const held: (() => void)[] = []
  let begun = 0
  const route = thingsRoute(async () => {
    begun++
    await new Promise<void>((resolve) => held.push(resolve))
    return {}
  })
  await using edge = await startEdge({ directoryRoutes: [route] })
  const begunOf = async (list: unknown, expected: number): Promise<void> => {
    begun = 0
    const body = JSON.stringify({ list })
    const headers = { 'content-type': 'application/json' }
    const all = Array.from({ length: 12 }, () =>
      edge.fetch('/directory/things', { method: 'POST', body, headers }),
    )
    await until(() => begun >= expected)
    for (let at = 0; at < 20; at++) assert.equal((await edge.fetch('/healthz')).status, 200)
    assert.equal(begun, expected)
    const letting = setInterval(() => held.shift()?.(), 1)
    for (const answer of await Promise.all(all)) assert.equal(answer.status, 201)
    clearInterval(letting)
  }
  await begunOf('x'.repeat(60_000), 12)
  await begunOf(
    Array.from({ length: 20_000 }, () => ({})),
    8,
  )
})

test('what waits with its body for room waits no longer when its client leaves', async () => {
  const end = Promise.withResolvers<void>()
  let begun = 0
  const route = thingsRoute(async () => {
    begun++
    await end.promise
    return {}
  })
  await using edge = await startEdge({ directoryRoutes: [route] })
  const client = new AbortController()
  const list = Array.from({ length: 20_000 }, () => ({}))
  const all = Array.from({ length: 12 }, () =>
    edge.fetch('/directory/things', {
      method: 'POST',
      body: JSON.stringify({ list }),
      headers: { 'content-type': 'application/json' },
      signal: client.signal,
    }),
  )
  const left = Promise.allSettled(all)
  const isRunning = async (count: number): Promise<boolean> => {
    const metrics = await (await edge.fetch('/metrics')).text()
    // The question for it is one more.
    return metrics.includes(`requests_running ${count + 1}\n`)
  }
  await until(async () => begun === 8 && (await isRunning(12)))
  client.abort()
  await left
  await until(() => isRunning(8))
  end.resolve()
  await until(() => isRunning(0))
  assert.equal(begun, 8)
})
