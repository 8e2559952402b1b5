import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { pbkdf2Sync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { defaultLimits } from '#kernel/limits.ts'
import { requireOrSkip } from '../../tests/require.ts'
import { until } from '../../tests/until.ts'
import { createAuthority } from '../tls/certificate.ts'
import { EncryptedInput } from './encrypted-input.ts'
import { createListener, createSecureListener, listen } from './listener.ts'
import { sliceInput } from './sliced-input.ts'
import { startEdge } from './testing/start.ts'

test('a handshake that does not end is cut, and so is one that is none', async () => {
  const pair = createAuthority('test', { names: ['localhost'], now: Date.now(), days: 1 })
  const server = createListener(defaultLimits, () => false)
  const secure = createSecureListener(server, { current: () => pair, onChange: () => {} }, 50)
  let cut = 0
  secure.on('connection', (socket) => socket.once('close', () => cut++))
  const listening = await listen(secure, { host: '127.0.0.1', port: 0 })
  try {
    for (const beginning of ['', '\x16\x03\x01\x02\x00\x01', 'GET / HTTP/1.1\r\n\r\n']) {
      const socket = connect(listening.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.resume()
      socket.write(beginning)
      await once(socket, 'close')
    }
    assert.equal(cut, 3)
  } finally {
    await listening.close()
    server.close()
  }
})

test('a handshake is cut that goes on too slowly, or whose client has left', async () => {
  const pair = createAuthority('test', { names: ['localhost'], now: Date.now(), days: 1 })
  const server = createListener(defaultLimits, () => false)
  for (const [milliseconds, leaves] of [
    [200, false],
    [3_600_000, true],
  ] as const) {
    const certificates = { current: () => pair, onChange: () => {} }
    const secure = createSecureListener(server, certificates, milliseconds)
    await using held = new AsyncDisposableStack()
    const { port, close } = await listen(secure, { host: '127.0.0.1', port: 0 })
    held.defer(close)
    const connection = once(secure, 'connection')
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    held.defer(() => void client.destroy())
    client.on('error', () => {}).resume()
    client.write('\x16\x03\x01\x02\x00\x01')
    const drip = setInterval(() => client.write('\x01'), 20)
    held.defer(() => clearInterval(drip))
    const [socket] = (await connection) as [Socket]
    if (leaves) {
      clearInterval(drip)
      client.end()
    }
    await until(() => socket.destroyed)
  }
  server.close()
})

test('a client that changes its keys again and again is cut', async (t) => {
  const client = '/usr/bin/openssl'
  if (!requireOrSkip(t, existsSync(client), 'openssl is not here')) return
  const pair = createAuthority('test', { names: ['localhost'], now: Date.now(), days: 1 })
  const server = createListener(defaultLimits, () => false)
  const secure = createSecureListener(server, { current: () => pair, onChange: () => {} })
  await using held = new AsyncDisposableStack()
  const { port, close } = await listen(secure, { host: '127.0.0.1', port: 0 })
  held.defer(close)
  const connection = once(server, 'connection')
  const words = ['s_client', '-connect', `127.0.0.1:${port}`, '-tls1_3', '-no_ign_eof', '-quiet']
  const peer = spawn(client, words, { stdio: ['pipe', 'ignore', 'ignore'] })
  held.defer(() => void peer.kill())
  peer.stdin.on('error', () => {})
  const [socket] = (await connection) as [Socket]
  socket.on('error', () => {})
  assert.equal(socket.remoteAddress, '127.0.0.1')
  // Each read of the client that begins with a k is a change of keys.
  await until(() => {
    peer.stdin.write('k\n')
    return socket.destroyed
  })
})

const inputs: readonly (readonly [string, (socket: Socket) => Duplex])[] = [
  ['http', sliceInput],
  ['https', (socket) => new EncryptedInput(socket)],
]
for (const [protocol, inputOf] of inputs) {
  test(`what clients of ${protocol} send is taken a few milliseconds in a turn, and addresses take turns`, async (t) => {
    const accepted: { readonly input: Duplex; readonly address: string | undefined }[] = []
    const server = createServer((socket) => {
      accepted.push({ input: inputOf(socket), address: socket.remoteAddress })
    })
    t.after(() => server.close())
    server.listen(0, '0.0.0.0')
    await once(server, 'listening')
    // The address of a server that listens on a port has this shape.
    const { port } = server.address() as AddressInfo
    const hosts = ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2']
    const clients: Socket[] = []
    for (const localAddress of hosts) {
      const client = connect({ port, host: '127.0.0.1', localAddress })
      t.after(() => client.destroy())
      await once(client, 'connect')
      clients.push(client)
    }
    await until(() => accepted.length === hosts.length)
    let turn = 0
    const count = (): void => {
      turn++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    t.after(() => clearImmediate(counting))
    const slices: { readonly address: string | undefined; readonly turn: number }[] = []
    for (const { input, address } of accepted) {
      t.after(() => input.destroy())
      input.on('data', () => {
        slices.push({ address, turn })
        // More than a turn has for all.
        pbkdf2Sync('a', 'b', 20_000, 32, 'sha512')
      })
    }
    for (const client of clients) client.write(Buffer.alloc(8192))
    await until(() => slices.length === 2 * hosts.length)
    // Where the loop turns, one may be taken at the end of a turn and one at its beginning.
    const turns = new Set(slices.map((slice) => slice.turn)).size
    assert.ok(turns >= slices.length / 2, `${turns} turns`)
    const other = slices.findIndex(({ address }) => address === '127.0.0.2')
    assert.ok(other < 6, `the other address came at place ${other}`)
  })

  test(`what clients of ${protocol} send stays with them while nobody reads it, and all of it comes then`, async (t) => {
    const accepted: Duplex[] = []
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket)
      accepted.push(inputOf(socket))
    })
    t.after(() => server.close())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    // The address of a server that listens on a port has this shape.
    const { port } = server.address() as AddressInfo
    const client = connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    await until(() => accepted.length === 1)
    const [input, socket] = [accepted[0], sockets[0]]
    assert.ok(input !== undefined && socket !== undefined)
    t.after(() => input.destroy())
    let bytes = 0
    input.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    input.pause()
    const sent = 32 * 1024 * 1024
    client.end(Buffer.alloc(sent))
    await until(() => socket.bytesRead > 0)
    // Without a bound each turn of the loop would take 64 KB.
    for (let turn = 0; turn < 2 * (sent / 65_536); turn++) await nextTurn()
    assert.ok(socket.bytesRead <= 256 * 1024, `${socket.bytesRead} bytes were taken`)
    input.resume()
    await once(input, 'end')
    assert.equal(bytes, sent)
  })
}

test('many new connections are accepted in few turns of the loop', async () => {
  const count = 128
  const server = createServer()
  let accepted = 0
  server.on('connection', (socket: Socket) => {
    accepted++
    socket.on('error', () => {}).on('end', () => socket.destroy())
    socket.resume()
  })
  const { port, close } = await listen(server, { host: '127.0.0.1', port: 0 })
  // The system has taken all of them before the loop turns.
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  let turns = 0
  for (; accepted < count; turns++) await new Promise(setImmediate)
  for (const socket of sockets) socket.destroy()
  await close()
  assert.ok(turns < count / 2, `${turns} turns`)
})

test('a port in use is not shared with another server', async () => {
  const host = '127.0.0.1'
  const first = await listen(createServer(), { host, port: 0 })
  await assert.rejects(listen(createServer(), { host, port: first.port }), { code: 'EADDRINUSE' })
  await first.close()
  const second = await listen(createServer(), { host, port: first.port })
  assert.equal(second.port, first.port)
  await second.close()
})

test('bytes that are no HTTP, behind answers that wait, end the connection and not the process', async () => {
  const end = Promise.withResolvers<void>()
  let waits = 0
  const route = (path: string, run: () => Promise<object>) =>
    ({ method: 'GET', path, action: 'x', status: 200, run }) as const
  await using edge = await startEdge({
    directoryRoutes: [
      route('/directory/slow', async () => {
        waits++
        await end.promise
        return {}
      }),
      route('/directory/large', async () => ({ text: 'x'.repeat(200_000) })),
    ],
  })
  const client = connect(edge.port, '127.0.0.1')
  client.on('error', () => {})
  client.resume()
  const head = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer owner\r\n\r\n`
  client.write(head('/directory/slow') + head('/directory/large') + head('/directory/large'))
  await until(async () => {
    const metrics = await (await edge.fetch('/metrics')).text()
    // The slow one, and the question itself: the answers of the others are made.
    return waits === 1 && metrics.includes('requests_running 2\n')
  })
  // More than one slice, so that the next one comes right after the error.
  client.write(`${head('/healthz')}no HTTP\r\n\r\n${'x'.repeat(20_000)}`)
  for (let at = 0; at < 20; at++) {
    client.write('and more')
    await nextTurn()
    assert.equal((await edge.fetch('/healthz')).status, 200)
  }
  end.resolve()
  client.destroy()
})
