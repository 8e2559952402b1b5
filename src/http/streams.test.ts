/** Streams through the edge with another client (Node's own WebSocket), and with bytes that no client sends. */

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { silentLog } from '#kernel/ports.ts'
import type { Permission } from '#plane/access.ts'
import { testClock } from '#plane/testing/start.ts'
import { until } from '../../tests/until.ts'
import { createPermissionWatch } from './permission-watch.ts'
import { type Conversation, createStreams, type StreamLimits, type Streams } from './streams.ts'
import { lastingPermission } from './testing/permissions.ts'
import { rawRequest } from './testing/raw-request.ts'
import { startEdge, type TestEdge } from './testing/start.ts'

/** Echoes until the input ends; then ends with 7. */
class Echo implements Conversation {
  readonly heard: Buffer[] = []
  disposed = false
  #wake: () => void = () => {}
  #ended = false
  readonly output: AsyncIterable<{ readonly bytes: Uint8Array }> = this.#say()

  async *#say(): AsyncIterable<{ readonly bytes: Uint8Array }> {
    yield { bytes: Buffer.from('hello\n') }
    let at = 0
    for (;;) {
      for (; at < this.heard.length; at++) yield { bytes: this.heard[at] ?? Buffer.alloc(0) }
      if (this.#ended || this.disposed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
  async write(bytes: Uint8Array): Promise<void> {
    this.heard.push(Buffer.from(bytes))
    this.#wake()
  }
  end(): void {
    this.#ended = true
    this.#wake()
  }
  async exitCode(): Promise<number> {
    return 7
  }
  async [Symbol.asyncDispose](): Promise<void> {
    this.disposed = true
    this.#wake()
  }
}

interface Fixture extends AsyncDisposable {
  readonly edge: TestEdge
  readonly streams: Streams
  readonly clock: ReturnType<typeof testClock>
  /** Increased by a test that revokes a right. */
  readonly changes: { count: number }
}

async function open(limits: Partial<StreamLimits> = {}): Promise<Fixture> {
  const clock = testClock()
  const changes = { count: 0 }
  let url = ''
  const streams = createStreams({
    ids: { uuid: randomUUID, secret: (bytes) => randomBytes(bytes).toString('base64url') },
    clock,
    log: silentLog,
    permissions: createPermissionWatch({
      version: () => String(changes.count),
      now: () => clock.now(),
      log: silentLog,
      everyMilliseconds: 10,
    }),
    publicUrl: () => url,
    limits,
  })
  const edge = await startEdge({ options: { upgrades: [streams] } })
  url = edge.url
  return { edge, streams, clock, changes, [Symbol.asyncDispose]: () => edge[Symbol.asyncDispose]() }
}

function revocable(): Permission & { revoke(): void } {
  let holds = true
  return {
    principalId: 'someone',
    ask: async () =>
      holds ? { holds: true, until: Number.POSITIVE_INFINITY } : { holds: false, reason: 'gone' },
    revoke() {
      holds = false
    },
  }
}

interface Client {
  readonly socket: WebSocket
  text(): string
  says(words: string): Promise<void>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

function client(uri: string, first?: string): Client {
  const socket = new WebSocket(uri)
  socket.binaryType = 'arraybuffer'
  let text = ''
  socket.addEventListener('message', ({ data }) => {
    text += Buffer.from(data as ArrayBuffer).toString('utf8')
  })
  socket.addEventListener('open', () => {
    if (first !== undefined) socket.send(first)
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }))
  })
  return {
    socket,
    text: () => text,
    closed,
    async says(words) {
      await until(() => {
        if (text.includes(words)) return true
        if (socket.readyState === WebSocket.CLOSED) throw new Error(`closed after: ${text}`)
        return false
      })
    },
  }
}

describe('a stream', () => {
  test('goes to whoever sends the password first, carries both ways, and tells the exit code', async () => {
    await using fixture = await open()
    const echo = new Echo()
    const { webSocketUri, password } = fixture.streams.offer(async () => echo, lastingPermission)
    assert.match(webSocketUri, /^ws:\/\/127\.0\.0\.1:\d+\/streams\/[\w-]{22}$/)
    const one = client(webSocketUri, password)
    await one.says('hello\n')
    one.socket.send('text €')
    await one.says('text €')
    one.socket.send(Buffer.alloc(50_000, 'x'))
    await one.says('x'.repeat(50_000))
    one.socket.send('')
    assert.deepEqual(await one.closed, { code: 1000, reason: 'exit code 7' })
    assert.ok(echo.disposed)
    const again = client(webSocketUri, password)
    assert.notEqual((await again.closed).code, 1000, 'an address is good once')
  })

  test('a wrong password spends it; a late or unknown one is not found', async () => {
    await using fixture = await open()
    let opened = 0
    const offer = () =>
      fixture.streams.offer(async () => {
        opened++
        return new Echo()
      }, lastingPermission)
    const wrong = offer()
    const { code, reason } = await client(wrong.webSocketUri, `${wrong.password}x`).closed
    assert.deepEqual([code, reason], [1008, 'the password is wrong'])
    assert.notEqual((await client(wrong.webSocketUri, wrong.password).closed).code, 1000)
    const late = offer()
    fixture.clock.advance(61)
    assert.equal((await client(late.webSocketUri, late.password).closed).code, 1006)
    const unknown = client(`ws://127.0.0.1:${fixture.edge.port}/streams/none`, 'x')
    assert.equal((await unknown.closed).code, 1006)
    assert.equal(opened, 0)
  })

  test('a client that says nothing is sent away', async () => {
    await using fixture = await open({ passwordSeconds: 0.02 })
    const { webSocketUri } = fixture.streams.offer(async () => new Echo(), lastingPermission)
    assert.deepEqual(await client(webSocketUri).closed, { code: 1008, reason: 'no password came' })
  })

  test('a client that leaves ends the conversation', async () => {
    await using fixture = await open()
    const echo = new Echo()
    const { webSocketUri, password } = fixture.streams.offer(async () => echo, lastingPermission)
    const one = client(webSocketUri, password)
    await one.says('hello')
    one.socket.close(4000, 'bye')
    assert.equal((await one.closed).code, 4000)
    for (let looks = 0; looks < 200 && !echo.disposed; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.ok(echo.disposed)
  })

  test('what cannot be opened is reported; closing the server closes its streams', async () => {
    const fixture = await open()
    const failing = fixture.streams.offer(async () => {
      throw new Error('the container does not run')
    }, lastingPermission)
    assert.deepEqual(await client(failing.webSocketUri, failing.password).closed, {
      code: 1011,
      reason: 'the container does not run',
    })
    const { webSocketUri, password } = fixture.streams.offer(
      async () => new Echo(),
      lastingPermission,
    )
    const one = client(webSocketUri, password)
    await one.says('hello')
    await fixture[Symbol.asyncDispose]()
    assert.deepEqual(await one.closed, { code: 1001, reason: 'the server is closing' })
  })

  test('offers and sessions are bounded', async () => {
    await using fixture = await open({ offersMax: 2, sessionsMax: 1, messageBytesMax: 100 })
    const offer = () => fixture.streams.offer(async () => new Echo(), lastingPermission)
    const one = offer()
    const two = offer()
    assert.throws(offer, (error) => error instanceof ApiError && error.status === 503)
    const first = client(one.webSocketUri, one.password)
    await first.says('hello')
    assert.equal((await client(two.webSocketUri, two.password).closed).code, 1006)
    fixture.clock.advance(61)
    offer()
    offer()
    first.socket.send('x'.repeat(101))
    assert.equal((await first.closed).code, 1009)
  })
})

describe('the permission of a stream', () => {
  test('gone before the client comes: nothing is opened', async () => {
    await using fixture = await open()
    const permission = revocable()
    let opened = 0
    const { webSocketUri, password } = fixture.streams.offer(async () => {
      opened++
      return new Echo()
    }, permission)
    permission.revoke()
    const { code, reason } = await client(webSocketUri, password).closed
    assert.deepEqual([code, reason, opened], [1008, 'gone', 0])
  })

  test('gone while it is open: it ends, what it talks with is let go of, others go on', async () => {
    await using fixture = await open()
    const permission = revocable()
    const echo = new Echo()
    const one = fixture.streams.offer(async () => echo, permission)
    const other = fixture.streams.offer(async () => new Echo(), lastingPermission)
    const first = client(one.webSocketUri, one.password)
    const second = client(other.webSocketUri, other.password)
    await Promise.all([first.says('hello'), second.says('hello')])
    permission.revoke()
    fixture.changes.count += 1
    assert.deepEqual(await first.closed, { code: 1008, reason: 'gone' })
    assert.ok(echo.disposed)
    second.socket.send('still here')
    await second.says('still here')
  })

  test('one principal has a bounded number, others have theirs', async () => {
    await using fixture = await open({ perPrincipalMax: 2 })
    const one = revocable()
    const offer = (permission: Permission) =>
      fixture.streams.offer(async () => new Echo(), permission)
    const { webSocketUri, password } = offer(one)
    await client(webSocketUri, password).says('hello')
    offer(one)
    assert.throws(
      () => offer(one),
      (error) => error instanceof ApiError && error.status === 503,
    )
    offer(lastingPermission)
  })
})

describe('the handshake', () => {
  const ask = (path: string, more: string) =>
    `GET ${path} HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\n${more}\r\n`
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

  test('is answered as in RFC 6455, or refused', async () => {
    await using fixture = await open()
    const { port } = fixture.edge
    const offered = () =>
      new URL(fixture.streams.offer(async () => new Echo(), lastingPermission).webSocketUri)
        .pathname
    const good = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    const [accepted] = await rawRequest(port, [ask(offered(), good + key)])
    assert.equal(accepted?.status, 101)
    assert.equal(accepted?.headers['sec-websocket-accept'], 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    const statusOf = async (path: string, more: string) =>
      (await rawRequest(port, [ask(path, more)]))[0]?.status
    const old = 'Upgrade: websocket\r\nSec-WebSocket-Version: 8\r\n'
    assert.equal(await statusOf(offered(), old + key), 426)
    assert.equal(await statusOf(offered(), good), 400)
    assert.equal(await statusOf(offered(), `Upgrade: h2c\r\n${key}`), 400)
    assert.equal(await statusOf('/streams/none', good + key), 404)
    // On other paths the upgrade is ignored, and the request answered normally.
    assert.equal(await statusOf('/healthz', good + key), 200)
    assert.equal(await statusOf('/streams', good + key), 401)
  })

  test('overtakes no answer that waits on its connection', async () => {
    await using fixture = await open()
    const good = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    const before = 'GET /subscriptions HTTP/1.1\r\nHost: here\r\n\r\n'
    const sent = `${before}${ask('/streams/none', good + key)}`
    const answers = await rawRequest(fixture.edge.port, [sent], { answers: 2 })
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 401],
    )
  })

  test('ends the connection with its answer where it is ignored, as what follows may be lost', async () => {
    await using fixture = await open()
    const more = 'GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n'
    const sent = [ask('/healthz', 'Upgrade: h2c\r\n'), more]
    for (const writes of [sent, [sent.join('')]]) {
      const [answer, ...others] = await rawRequest(fixture.edge.port, writes, { answers: 2 })
      assert.equal(answer?.status, 200)
      const { connection } = answer.headers
      assert.equal(connection, 'close')
      assert.deepEqual(others, [])
    }
  })

  test('a refused client that keeps its side open loses its connection', async () => {
    await using fixture = await open()
    const socket = connect({ port: fixture.edge.port, host: '127.0.0.1', allowHalfOpen: true })
    const gone = new Promise((resolve) => {
      socket.on('error', resolve)
      socket.on('close', resolve)
    })
    const good = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    socket.write(ask('/streams/none', good + key))
    socket.resume()
    // Single bytes do not keep a connection alive.
    const drip = setInterval(() => socket.write('x'), 100)
    await gone
    clearInterval(drip)
  })

  test('a client that sends pings and does not read is cut off', async () => {
    await using fixture = await open({ waitingPongsMax: 100 })
    const { webSocketUri, password } = fixture.streams.offer(
      async () => new Echo(),
      lastingPermission,
    )
    const good = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    const socket = connect(fixture.edge.port, '127.0.0.1')
    const gone = new Promise((resolve) => {
      socket.on('error', resolve)
      socket.on('close', resolve)
    })
    socket.pause()
    socket.write(ask(new URL(webSocketUri).pathname, good + key))
    const masked = (opcode: number, payload: Buffer): Buffer =>
      Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload])
    socket.write(masked(1, Buffer.from(password)))
    const pings = Buffer.concat(Array.from({ length: 10_000 }, () => masked(9, Buffer.alloc(125))))
    const flood = (): void => {
      while (!socket.destroyed && socket.write(pings));
    }
    socket.on('drain', flood)
    flood()
    await gone
    socket.destroy()
  })

  test('a client that breaks the framing, or the connection, harms nobody', async () => {
    await using fixture = await open()
    const { webSocketUri } = fixture.streams.offer(async () => new Echo(), lastingPermission)
    const path = new URL(webSocketUri).pathname
    const good = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    const socket = connect(fixture.edge.port, '127.0.0.1')
    // The bytes after the head arrive with it and must not be lost.
    socket.write(
      Buffer.concat([Buffer.from(ask(path, good + key)), Buffer.from([0x81, 0x01, 0x41])]),
    )
    let heard = Buffer.alloc(0)
    for await (const chunk of socket) heard = Buffer.concat([heard, chunk as Buffer])
    const frame = heard.subarray(heard.indexOf('\r\n\r\n') + 4)
    assert.equal(frame.readUInt8(0), 0x88)
    assert.equal(frame.readUInt16BE(2), 1002)
    const other = fixture.streams.offer(async () => new Echo(), lastingPermission)
    const reset = connect(fixture.edge.port, '127.0.0.1')
    reset.on('error', () => {})
    reset.write(ask(new URL(other.webSocketUri).pathname, good + key))
    await new Promise((resolve) => reset.once('data', resolve))
    reset.resetAndDestroy()
    assert.equal((await fixture.edge.fetch('/healthz')).status, 200)
  })
})
