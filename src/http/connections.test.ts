import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { connect as connectSecurely, type TLSSocket } from 'node:tls'
import { defaultLimits } from '#kernel/limits.ts'
import { until } from '../../tests/until.ts'
import { createAuthority } from '../tls/certificate.ts'
import { fittingConnections, trackConnections } from './connections.ts'
import { createListener, createSecureListener, listen } from './listener.ts'

const megabyte = 1024 ** 2

test('connections take no more than a quarter of the heap, and those of proxies are smaller', () => {
  const memory = { heapBytes: 256 * megabyte, allBytes: 24_000 * megabyte }
  const fitting = { connectionsMax: 655, proxyConnectionsMax: 2_621 }
  assert.deepEqual(fittingConnections(10_000, false, memory), fitting)
  const all = { connectionsMax: 100, proxyConnectionsMax: 100 }
  assert.deepEqual(fittingConnections(100, false, memory), all)
  const here = fittingConnections(10_000, false)
  assert.ok(here.connectionsMax > 0 && here.connectionsMax <= 10_000)
})

test('connections of https take no more than a quarter of the memory', () => {
  const memory = { heapBytes: 4_096 * megabyte, allBytes: 1_024 * megabyte }
  const fitting = { connectionsMax: 2_621, proxyConnectionsMax: 2_621 }
  assert.deepEqual(fittingConnections(10_000, true, memory), fitting)
  const all = { connectionsMax: 10_000, proxyConnectionsMax: 10_000 }
  assert.deepEqual(fittingConnections(10_000, false, memory), all)
})

test('of what was read of a connection in one go, no request is made past the most of them', async () => {
  let made = 0
  const server = createServer(() => {
    made++
  })
  const limits = {
    connectionsMax: 10,
    proxyConnectionsMax: 10,
    connectionsPerAddressMax: 10,
    requestsPerConnectionMax: 3,
  }
  trackConnections(server, limits, () => false)
  await using stack = new AsyncDisposableStack()
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It listens on a port.
  const { port } = server.address() as AddressInfo
  for (const most of [3, 6]) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {}).resume()
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n'.repeat(1_000))
    await new Promise((resolve) => socket.once('close', resolve))
    // The one that was too many, and the one after it.
    assert.ok(made <= most + 2, `${made} requests`)
  }
})

test('of https, too, an idle one gives its place to another one of its address', async () => {
  const pair = createAuthority('test', { names: ['localhost'], now: Date.now(), days: 1 })
  const server = createListener(defaultLimits, () => false)
  const secure = createSecureListener(server, { current: () => pair, onChange: () => {} })
  const limits = { ...defaultLimits, connectionsMax: 2, proxyConnectionsMax: 2 }
  const connections = trackConnections(server, limits, () => false, secure)
  await using stack = new AsyncDisposableStack()
  const { port, close } = await listen(secure, { host: '127.0.0.1', port: 0 })
  stack.defer(() => void server.close())
  stack.defer(close)
  const open = (): TLSSocket => {
    const socket = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
    stack.defer(() => void socket.destroy())
    return socket.on('error', () => {}).resume()
  }
  const busy = open()
  busy.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
  await once(server, 'request')
  const idle = open()
  await once(server, 'connection')
  const ended = once(idle, 'close')
  const other = open()
  await Promise.race([once(server, 'connection'), once(other, 'close')])
  assert.equal(other.destroyed, false)
  await ended
  assert.equal(busy.destroyed, false)
  assert.equal(connections.count(), 2)
})

test('answers that wait for their turn end with their connection, also behind a request for another protocol', async () => {
  const server = createListener(defaultLimits, () => false)
  trackConnections(server, { ...defaultLimits, proxyConnectionsMax: 10 }, () => false)
  await using stack = new AsyncDisposableStack()
  const { port, close } = await listen(server, { host: '127.0.0.1', port: 0 })
  stack.defer(() => void server.close())
  stack.defer(close)
  const closed: string[] = []
  server.on('request', ({ url = '' }, response) => response.once('close', () => closed.push(url)))
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {}).resume()
  const head = 'HTTP/1.1\r\nHost: here\r\n\r\n'
  socket.write(`GET /1 ${head}GET /2 ${head}GET /3 ${head}CONNECT there:1 ${head}`)
  await once(socket, 'close')
  await until(() => closed.length === 3)
  assert.deepEqual(closed.toSorted(), ['/1', '/2', '/3'])
})
