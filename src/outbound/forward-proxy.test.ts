/** Servers that answer through the proxy of a run as no server should: what comes counts, and costs little. */

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { openForwardProxy } from './forward-proxy.ts'
import { localServer, openWay, watchedWay } from './testing/ways.ts'

const plenty = { bytesMax: 2 ** 30, answerBytesMax: () => 2 ** 30 }
const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const end = '0\r\n\r\n'

/** A server below HTTP: it writes all of this for each connection, as fast as it is taken, and ends. */
async function rawServer(...chunks: readonly string[]) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      for (const piece of chunks) socket.write(piece)
      socket.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The address of a server that listens on a port has this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Through {
  readonly status: number | undefined
  readonly isWhole: boolean
  readonly body: Buffer
}

async function through(proxyUrl: string, url: string): Promise<Through> {
  const { port, username, password } = new URL(proxyUrl)
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  return await new Promise<Through>((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      path: url,
      headers: { 'proxy-authorization': `Basic ${basic}` },
      signal: AbortSignal.timeout(60_000),
    }
    const call = request(options, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (piece: Buffer) => chunks.push(piece))
      // A broken answer is an error and then closed.
      answer.on('error', () => undefined)
      answer.on('close', () => {
        const { statusCode: status, complete: isWhole } = answer
        resolve({ status, isWhole, body: Buffer.concat(chunks) })
      })
    })
    // It may be broken off before its head was sent.
    call.once('error', (error) => {
      if (error.name === 'AbortError') reject(error)
      else resolve({ status: undefined, isWhole: false, body: Buffer.alloc(0) })
    })
    call.end()
  })
}

test('an answer in chunks of one byte is broken off, whatever it may have in all', async () => {
  await using server = await rawServer(head, '1\r\nx\r\n'.repeat(400_000), end)
  const way = watchedWay({ mode: 'open' })
  await using proxy = await openForwardProxy(way.outbound, plenty)
  const { isWhole, body } = await through(proxy.url, server.url)
  assert.equal(isWhole, false)
  assert.ok(body.length < 20_000, `${body.length} bytes came through`)
  assert.match(way.told.join(), /tiny chunks/)
})

test('tiny chunks are counted over all answers of a run', async () => {
  await using server = await rawServer(head, '1\r\nx\r\n'.repeat(3000), end)
  await using proxy = await openForwardProxy(openWay, plenty)
  assert.equal((await through(proxy.url, server.url)).isWhole, true)
  assert.equal((await through(proxy.url, server.url)).isWhole, false)
})

test('the framing of an answer counts', async () => {
  await using server = await rawServer(head, '1\r\nx\r\n'.repeat(4000), end)
  const bounds = { bytesMax: 2 ** 30, answerBytesMax: () => 10_000 }
  await using proxy = await openForwardProxy(openWay, bounds)
  assert.equal((await through(proxy.url, server.url)).isWhole, false)
  assert.equal(proxy.met(), 10_000)
})

test('headers of an answer count', async () => {
  const long = `HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(9000)}\r\n`
  await using server = await rawServer(`${long}content-length: 2\r\n\r\nok`)
  await using proxy = await openForwardProxy(openWay, { ...plenty, bytesMax: 8000 })
  assert.equal((await through(proxy.url, server.url)).isWhole, false)
  assert.equal(proxy.met(), 8000)
})

test('informational answers without an end are no answer', async () => {
  const flood = 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100_000)
  await using server = await rawServer(flood, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  await using proxy = await openForwardProxy(openWay, plenty)
  assert.equal((await through(proxy.url, server.url)).status, 502)
})

test('an answer with another protocol ends the call', async () => {
  await using server = await rawServer(
    'HTTP/1.1 101 Other\r\nconnection: upgrade\r\nupgrade: a\r\n\r\n',
  )
  await using proxy = await openForwardProxy(openWay, plenty)
  assert.equal((await through(proxy.url, server.url)).status, 502)
})

test('a long answer comes through as it is, and its bound is computed once', async () => {
  const sent = randomBytes(6 * 2 ** 20)
  await using server = await localServer((_, response) => {
    for (let at = 0; at < sent.length; at += 5000) response.write(sent.subarray(at, at + 5000))
    response.end()
  })
  let times = 0
  const bounds = { bytesMax: 2 ** 30, answerBytesMax: () => 2 ** 30 + times++ }
  await using proxy = await openForwardProxy(openWay, bounds)
  const answer = await through(proxy.url, `http://127.0.0.1:${server.port}/`)
  const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  assert.equal(sum(answer.body), sum(sent))
  assert.equal(times, 1)
})
