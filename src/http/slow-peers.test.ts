/** Peers that do not read, that open too many connections, or that are idle when the server stops. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import type { Limits } from '#kernel/limits.ts'
import { owner } from '#plane/testing/start.ts'
import { until } from '../../tests/until.ts'
import type { RawHandler } from './routes.ts'
import type { HttpServerOptions } from './server.ts'
import { startEdge, type TestEdge } from './testing/start.ts'

/** More than the system's own buffers hold. */
const large = 'x'.repeat(24 * 1024 * 1024)

async function open(
  limits: Partial<Limits> = {},
  options: Partial<HttpServerOptions> = {},
): Promise<TestEdge> {
  const route = (path: string, run: () => Promise<unknown>) =>
    ({ method: 'GET', path, action: 'x', status: 200, run }) as const
  return startEdge({
    limits,
    options,
    directoryRoutes: [
      route('/directory/large', async () => ({ text: large })),
      route('/directory/never', () => new Promise(() => {})),
      route('/directory/endless', async () => endless()),
    ],
  })
}

test('an answer that is a stream ends where its client has left before it began', async () => {
  const begun = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const stream = new Readable({ read() {} })
  const route = {
    method: 'GET',
    path: '/directory/stream',
    action: undefined,
    status: 200,
    async run() {
      begun.resolve()
      await left.promise
      return stream
    },
  } as const
  await using edge = await startEdge({ directoryRoutes: [route] })
  const socket = ask(edge, '/directory/stream')
  await begun.promise
  socket.destroy()
  await until(() => edge.server.connections() === 0)
  left.resolve()
  await until(() => stream.destroyed)
})

async function* endless(): AsyncIterable<Uint8Array> {
  for (;;) yield Buffer.alloc(64 * 1024)
}

/** Sends requests and reads nothing, unless the test resumes it. */
function ask(edge: TestEdge, path: string, times = 1): Socket {
  const socket = connect(edge.port, '127.0.0.1')
  // The connection is expected to be cut.
  socket.on('error', () => {})
  socket.pause()
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer owner\r\n\r\n`.repeat(times),
  )
  return socket
}

function reasons(edge: TestEdge): readonly unknown[] {
  return edge.logged
    .filter(({ message }) => message === 'cut a connection')
    .map(({ fields }) => Reflect.get(fields, 'reason'))
}

/**
 * Sends the beginning, and then a byte from time to time while the server listens. Returns the answer at the end.
 */
async function drip(edge: TestEdge, beginning: string): Promise<string> {
  const socket = connect(edge.port, '127.0.0.1')
  socket.on('error', () => {})
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk
  })
  socket.write(beginning)
  const dripping = setInterval(() => socket.write('x'), 50)
  await once(socket, 'close')
  clearInterval(dripping)
  return answer
}

describe('a client that does not write', () => {
  test('its head to the end is answered 408 and cut off', async () => {
    await using edge = await open({ requestSeconds: 1 })
    const answer = await drip(edge, 'GET /directory/large HTTP/1.1\r\nHost: here\r\nX-Slow: ')
    assert.match(answer, /^HTTP\/1\.1 408 /)
    assert.equal(edge.server.connections(), 0)
  })

  test('its body to the end is answered and cut off; others are served meanwhile', async () => {
    await using edge = await open({ requestSeconds: 1 })
    const id = '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/slow'
    const head = `PUT ${id}?api-version=2021-04-01 HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer owner\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"a":"`
    const slow = drip(edge, head)
    assert.equal((await edge.fetch('/healthz', { as: '' })).status, 200)
    assert.match(await slow, /^HTTP\/1\.1 (?:408|504) /)
  })
})

describe('a client that does not read', () => {
  test('is cut off when nothing moves', async () => {
    await using edge = await open({ writeSeconds: 0.2 })
    const socket = ask(edge, '/directory/large')
    await until(async () => edge.server.connections() === 1)
    await until(async () => edge.server.connections() === 0)
    socket.destroy()
  })

  test('or too slowly, is cut off by a deadline that follows from the size', async () => {
    await using edge = await open({ writeSeconds: 1, writeBytesPerSecondMin: 1024 ** 3 })
    const socket = ask(edge, '/directory/large')
    const trickle = setInterval(() => socket.read(64 * 1024), 20)
    await until(() => reasons(edge).length > 0)
    clearInterval(trickle)
    assert.deepEqual(reasons(edge), ['an answer was read too slowly'])
    socket.destroy()
  })

  test('holds a bounded number of bytes, by its address and in sum; readers get theirs whole', async () => {
    await using edge = await open({ unreadBytesPerAddressMax: large.length * 2.5 })
    const sockets = Array.from({ length: 6 }, () => ask(edge, '/directory/large'))
    await until(() => reasons(edge).length === 4)
    assert.equal(reasons(edge)[0], 'too much waits to be read by one address')
    for (const socket of sockets) socket.destroy()
    const read = await edge.fetch('/directory/large')
    assert.equal((await read.text()).length, large.length + '{"text":""}'.length)

    await using other = await open({ unreadBytesMax: large.length * 1.5 })
    const more = Array.from({ length: 3 }, () => ask(other, '/directory/large'))
    await until(() => reasons(other).length === 2)
    assert.equal(reasons(other)[0], 'too much waits to be read')
    for (const socket of more) socket.destroy()
  })

  test('of a stream is cut off, and what makes it ends', async () => {
    await using edge = await open({ writeSeconds: 1 })
    const socket = ask(edge, '/directory/endless')
    await until(() => reasons(edge).length > 0)
    assert.deepEqual(reasons(edge), ['a stream was not read'])
    await until(async () => edge.server.connections() === 0)
    socket.destroy()
  })

  test('and is gone costs no answer: what only reads is not begun', async () => {
    let ran = 0
    const principal = Promise.withResolvers<typeof owner>()
    await using edge = await open(
      {},
      {
        authenticate: () => principal.promise,
        authorizeAction: () => {
          ran += 1
        },
      },
    )
    const socket = ask(edge, '/directory/large')
    await until(async () => edge.server.connections() === 1)
    socket.destroy()
    await until(async () => edge.server.connections() === 0)
    principal.resolve(owner)
    const metrics = await (await edge.fetch('/metrics')).text()
    assert.match(metrics, /requests_running 1/)
    assert.equal(ran, 0)
  })

  test('may not pile up requests on one connection', async () => {
    await using edge = await open({ requestsPerConnectionMax: 3 })
    const three = ask(edge, '/directory/never', 3)
    const four = ask(edge, '/directory/never', 4)
    four.resume()
    await once(four, 'close')
    assert.equal(three.destroyed, false)
    three.destroy()
  })

  test('nor at the areas that answer themselves', async () => {
    const handle: RawHandler = () => undefined
    const mounts = [{ prefix: '/silent', handle }]
    await using edge = await open({ requestsPerConnectionMax: 3 }, { mounts })
    for (const path of ['/common/discovery/keys', '/silent']) {
      const many = ask(edge, path, 2_000)
      many.resume()
      // Not `once`: a reset connection is what is expected.
      await new Promise((resolve) => many.once('close', resolve))
    }
    assert.equal((await edge.fetch('/healthz', { as: '' })).status, 200)
  })
})

describe('connections of one address', () => {
  test('are bounded', async () => {
    await using edge = await open({ connectionsPerAddressMax: 2 })
    const first = ask(edge, '/directory/never')
    const second = ask(edge, '/directory/never')
    await until(async () => edge.server.connections() === 2)
    const third = ask(edge, '/directory/never').resume()
    await once(third, 'close')
    first.destroy()
    await until(async () => edge.server.connections() === 1)
    const answer = await edge.fetch('/healthz', { headers: { connection: 'close' } })
    assert.equal(answer.status, 200)
    second.destroy()
  })

  test('do not keep others out: whoever has most gives up one, an idle one first', async () => {
    await using edge = await open({ connectionsMax: 4 })
    const busy = ask(edge, '/directory/never')
    await until(async () => edge.server.connections() === 1)
    const idle: Socket[] = []
    for (let at = 0; at < 3; at++) idle.push(connect(edge.port, '127.0.0.1').on('error', () => {}))
    await until(async () => edge.server.connections() === 4)
    const closed = idle.map((socket) => once(socket.resume(), 'close'))
    const other = connect({ port: edge.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
    other.write('GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n')
    const [answer] = await once(other, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 200 /)
    await Promise.race(closed)
    assert.equal(edge.server.connections(), 4)
    // One more of whoever has most takes the place of an idle one of theirs.
    const more = connect(edge.port, '127.0.0.1')
    more.write('GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n')
    const [own] = await once(more, 'data')
    assert.match(String(own), /^HTTP\/1\.1 200 /)
    assert.equal(edge.server.connections(), 4)
    assert.equal(busy.destroyed, false)
    for (const socket of [busy, other, more, ...idle]) socket.destroy()
  })

  test('of a proxy are those of its callers', async () => {
    await using edge = await open({ connectionsPerAddressMax: 2 }, { isProxy: () => true })
    const sockets = Array.from({ length: 5 }, () => ask(edge, '/directory/never'))
    await until(async () => edge.server.connections() === 5)
    for (const socket of sockets) socket.destroy()
  })
})

describe('a stop', () => {
  interface Client {
    readonly socket: Socket
    heard(): string
    readonly outcome: Promise<'ended' | 'reset'>
    get(): void
  }

  function client(edge: TestEdge, closes = true): Client {
    const socket = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true })
    let heard = ''
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.toString('latin1')
    })
    const outcome = new Promise<'ended' | 'reset'>((resolve) => {
      socket.on('error', () => resolve('reset'))
      socket.on('end', () => {
        resolve('ended')
        if (closes) socket.end()
      })
    })
    return {
      socket,
      outcome,
      heard: () => heard,
      get: () => void socket.write('GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n'),
    }
  }

  test('answers what idle connections still ask, and closes the others without a reset', async () => {
    const edge = await open()
    const all = Array.from({ length: 32 }, () => client(edge))
    for (const one of all) one.get()
    await until(() => all.every((one) => one.heard().includes('"ok"')))
    const silent = client(edge)
    await until(async () => edge.server.connections() === 33)
    const stopped = edge.server.close({ drainSeconds: 3 })
    const asking = all.slice(0, 16)
    for (const one of asking) one.get()
    const outcomes = await Promise.all([...all, silent].map((one) => one.outcome))
    assert.deepEqual(new Set(outcomes), new Set(['ended']))
    for (const one of asking) {
      assert.equal(one.heard().split('HTTP/1.1 200 OK').length, 3)
      assert.match(one.heard(), /connection: close/i)
    }
    await stopped
    await edge[Symbol.asyncDispose]()
  })

  test('does not reset a request that crosses the end of its connection', async () => {
    const edge = await open()
    const one = client(edge, false)
    one.get()
    await until(() => one.heard().includes('"ok"'))
    const stopped = edge.server.close({ drainSeconds: 1 })
    await once(one.socket, 'end')
    one.get()
    const closed = once(one.socket, 'close')
    one.socket.end()
    const [hadError] = await closed
    assert.equal(hadError, false)
    await stopped
    await edge[Symbol.asyncDispose]()
  })
})
