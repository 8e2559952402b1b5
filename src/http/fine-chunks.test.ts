/** Bodies in pieces of a byte each: some are put together, very many end the connection, whoever reads them. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { connect as connectSecurely } from 'node:tls'
import { defaultLimits } from '#kernel/limits.ts'
import { until } from '../../tests/until.ts'
import { createAuthority } from '../tls/certificate.ts'
import { cutFineChunks } from './fine-chunks.ts'
import { createListener, createSecureListener, listen } from './listener.ts'
import { startEdge, type TestEdge } from './testing/start.ts'

const id = '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/fine'

/** Sends a body of so many chunks of one byte, and its end. Returns what was answered until the connection ended. */
async function send(edge: TestEdge, target: string, chunks: number): Promise<string> {
  const socket = connect(edge.port, '127.0.0.1')
  // A cut connection is no fault of the test.
  socket.on('error', () => {})
  let answer = ''
  socket.on('data', (bytes: Buffer) => {
    answer += bytes
  })
  const body = '{"location":"local"}'.padEnd(chunks)
  socket.write(
    `${target} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer owner\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  )
  socket.write(`${[...body].map((one) => `1\r\n${one}\r\n`).join('')}0\r\n\r\n`)
  await new Promise((resolve) => socket.once('close', resolve))
  return answer
}

test('a body in tiny chunks is read, and one in very many of them is cut', async () => {
  await using edge = await startEdge()
  const target = `PUT ${id}?api-version=2021-04-01`
  assert.match(await send(edge, target, 4_000), /^HTTP\/1\.1 201 /)
  assert.equal(await send(edge, target, 20_000), '')
  // Nobody reads this one.
  assert.doesNotMatch(await send(edge, 'POST /nothing', 2_000_000), /^HTTP\/1\.1 2/)
  assert.equal((await edge.fetch('/healthz', { as: '' })).status, 200)
})

test('what nobody reads yet is kept whole, in few buffers, and without trailers', async () => {
  const requests: IncomingMessage[] = []
  const server = createServer((request) => requests.push(request)).on('request', cutFineChunks)
  await using stack = new AsyncDisposableStack()
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It listens on a port.
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  stack.defer(() => void socket.destroy())
  const head = 'POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n'
  const texts = [...'a little '.repeat(400), 'x'.repeat(2_000), ...'more']
  const chunks = texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('')
  const trailers = Array.from({ length: 300 }, (_, at) => `n${at}: v\r\n`).join('')
  socket.write(`${head}${chunks}0\r\n${trailers}\r\n${head}0\r\n${trailers}\r\n`)
  await until(() => requests.length === 2 && requests.every(({ complete }) => complete))
  for (const { rawTrailers } of requests) assert.deepEqual(rawTrailers, [])
  const [first = assert.fail()] = requests
  const buffers = await first.toArray()
  assert.equal(Buffer.concat(buffers).toString(), texts.join(''))
  assert.ok(buffers.length < 50, `${buffers.length} buffers`)
})

test('very many messages of TLS with a byte each end the connection', async () => {
  const pair = createAuthority('test', { names: ['localhost'], now: Date.now(), days: 1 })
  const server = createListener(defaultLimits, () => false)
  const secure = createSecureListener(server, { current: () => pair, onChange: () => {} })
  const requests: IncomingMessage[] = []
  server.on('request', (request) => requests.push(request))
  await using stack = new AsyncDisposableStack()
  const { port, close } = await listen(secure, { host: '127.0.0.1', port: 0 })
  stack.defer(() => void server.close())
  stack.defer(close)
  const client = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
  stack.defer(() => void client.destroy())
  client.on('error', () => {})
  client.write('POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 60000\r\n\r\n')
  // Writes that wait for another one would share a message.
  const write = (): Promise<unknown> => new Promise((resolve) => client.write('x', resolve))
  for (let sent = 0; sent < 5_100 && !client.destroyed; sent++) await write()
  await until(() => client.destroyed || (requests[0]?.readableLength ?? 0) >= 5_100)
  assert.equal(client.destroyed, true)
})
