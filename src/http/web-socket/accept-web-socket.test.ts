/** Input of a web socket is limited and checked, with bytes that no client library would send. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import {
  createWebSocketAcceptor,
  cutReason,
  type WebSocket,
  type WebSocketLimits,
} from './accept-web-socket.ts'

const handshake = [
  'GET / HTTP/1.1',
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Extensions: permessage-deflate',
  'Sec-WebSocket-Protocol: anything',
].join('\r\n')

const limits: WebSocketLimits = {
  messageBytesMax: 1000,
  fragmentsMax: 10,
  waitingBytesMax: 4000,
  waitingPongsMax: 100,
  pingSeconds: 60,
  closeSeconds: 0.2,
}

/** A client's frame, masked with zeros, so that the payload stays readable. */
function frame(first: number, payload: string | readonly number[] = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : Buffer.from(payload)
  assert.ok(bytes.length < 126)
  return Buffer.concat([Buffer.from([first, 0x80 | bytes.length, 0, 0, 0, 0]), bytes])
}

interface Fixture extends AsyncDisposable {
  readonly client: Socket
  readonly accepted: WebSocket
  /** The head of the answer. */
  readonly answer: string
  /** All bytes after the head, once the connection has ended. */
  readonly heard: Promise<Buffer>
}

async function open(given: Partial<WebSocketLimits> = {}): Promise<Fixture> {
  const server = createServer()
  const accept = createWebSocketAcceptor({ ...limits, ...given })
  const accepted = Promise.withResolvers<WebSocket>()
  server.on('upgrade', (request, socket, head) => {
    const one = accept({ request, socket, head })
    if (one === undefined) accepted.reject(new Error('the handshake was refused'))
    else accepted.resolve(one)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Listening on TCP, so it has an address of that kind.
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  const chunks: Buffer[] = []
  const gone = new Promise((resolve) => client.on('close', resolve))
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  client.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    if (Buffer.concat(chunks).includes('\r\n\r\n')) resolve()
  })
  client.write(`${handshake}\r\n\r\n`)
  await answered
  const end = Buffer.concat(chunks).indexOf('\r\n\r\n') + 4
  return {
    client,
    accepted: await accepted.promise,
    answer: Buffer.concat(chunks).toString('latin1', 0, end),
    heard: gone.then(() => Buffer.concat(chunks).subarray(end)),
    async [Symbol.asyncDispose]() {
      client.destroy()
      server.close()
      await gone
    },
  }
}

function closingOf(heard: Buffer): { readonly code: number; readonly reason: string } {
  assert.equal(heard.readUInt8(0), 0x88)
  return { code: heard.readUInt16BE(2), reason: heard.toString('utf8', 4) }
}

describe('a web socket', () => {
  test('speaks no extension and no subprotocol', async () => {
    await using fixture = await open()
    assert.match(fixture.answer, /^HTTP\/1\.1 101 /)
    assert.doesNotMatch(fixture.answer, /extensions|protocol:/i)
  })

  test('takes messages in fragments, with control frames between them', async () => {
    await using fixture = await open()
    const messages = fixture.accepted.messages[Symbol.asyncIterator]()
    fixture.client.write(
      Buffer.concat([
        frame(0x01, 'one '),
        frame(0x8a),
        frame(0x00, 'two'),
        frame(0x80, ' €'),
        frame(0x82),
      ]),
    )
    assert.equal(String((await messages.next()).value), 'one two €')
    assert.equal(String((await messages.next()).value), '')
  })

  const long = Buffer.alloc(14)
  long.set([0x82, 0xff])
  long.writeBigUInt64BE(2n ** 40n, 2)
  for (const [name, bytes, code, reason] of [
    ['reserved bits', frame(0xc1, 'x'), 1002, /RFC 6455/],
    ['an unknown opcode', frame(0x83, 'x'), 1002, /RFC 6455/],
    ['a frame that is not masked', Buffer.from([0x81, 0x01, 0x41]), 1002, /RFC 6455/],
    ['a control frame in fragments', frame(0x09), 1002, /RFC 6455/],
    ['a long control frame', Buffer.from([0x89, 0xfe, 0, 200, 0, 0, 0, 0]), 1002, /RFC 6455/],
    ['a fragment of no message', frame(0x80, 'x'), 1002, /RFC 6455/],
    ['a message within another', Buffer.concat([frame(1, 'x'), frame(1, 'x')]), 1002, /RFC 6455/],
    ['a text that is not UTF-8', frame(0x81, [0xff]), 1007, /UTF-8/],
    ['a length of too many bytes', long, 1009, /at most 1000 bytes/],
    [
      'fragments that make too long a message',
      Buffer.concat([frame(1), ...Array.from({ length: 9 }, () => frame(0, 'x'.repeat(120)))]),
      1009,
      /at most 1000 bytes/,
    ],
    [
      'a message of too many empty fragments',
      Buffer.concat([frame(1), ...Array.from({ length: 12 }, () => frame(0))]),
      1008,
      /at most 10 fragments/,
    ],
    ['a closing code there is none of', frame(0x88, [0x03, 0xec]), 1002, /RFC 6455/],
  ] as const) {
    test(`is closed by ${name}`, async () => {
      await using fixture = await open()
      fixture.client.write(bytes)
      const closing = closingOf(await fixture.heard)
      assert.equal(closing.code, code)
      assert.match(closing.reason, reason)
      await fixture.accepted.closed
    })
  }

  test('that the peer closes ends its messages, although the peer keeps its side open', async () => {
    await using fixture = await open({ closeSeconds: 60 })
    const ended = fixture.accepted.messages[Symbol.asyncIterator]().next()
    fixture.client.write(frame(0x88, [0x03, 0xe8]))
    assert.deepEqual(await ended, { done: true, value: undefined })
  })

  test('stops reading while messages wait, and goes on when they were read', async () => {
    await using fixture = await open({ waitingBytesMax: 10 })
    const messages = fixture.accepted.messages[Symbol.asyncIterator]()
    const sent = 20_000
    const flood = Buffer.concat(Array.from({ length: sent }, () => frame(0x82, 'x'.repeat(100))))
    const { promise: written, resolve } = Promise.withResolvers<void>()
    fixture.client.write(flood, () => resolve())
    for (let count = 0; count < sent; count++) {
      assert.equal((await messages.next()).value?.length, 100)
    }
    await written
  })

  test('with many small messages lets others have their turn, and holds few of them', async () => {
    await using fixture = await open({ waitingBytesMax: 256 * 1024 })
    const sent = 100_000
    fixture.client.write(Buffer.concat(Array.from({ length: sent }, () => frame(0x82, 'x'))))
    const messages = fixture.accepted.messages[Symbol.asyncIterator]()
    let turns = 0
    const look = (): void => {
      turns++
      turn = setImmediate(look)
    }
    let turn = setImmediate(look)
    // Read without waiting: without a turn of the loop only buffered bytes are available.
    let most = 0
    let since = 0
    let last = 0
    for (let count = 0; count < sent; count++) {
      await messages.next()
      since = turns === last ? since + 1 : 1
      last = turns
      most = Math.max(most, since)
    }
    clearImmediate(turn)
    assert.ok(most <= 1000, `${most} messages in one turn`)
  })

  test('whose peer answers no ping is cut', async () => {
    await using fixture = await open({ pingSeconds: 0.05 })
    const heard = await fixture.heard
    assert.deepEqual([...heard.subarray(0, 2)], [0x89, 0])
  })

  test('tells no more of a reason than a closing frame holds', () => {
    assert.equal(cutReason('short €'), 'short €')
    assert.equal(cutReason('€'.repeat(100)), '€'.repeat(41))
    assert.equal(cutReason('\u{1f600}'.repeat(100)), '\u{1f600}'.repeat(30))
  })
})
