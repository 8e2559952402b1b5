import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { defaultLimits } from '#kernel/limits.ts'
import { createAuthority } from '../tls/certificate.ts'
import { createListener, createSecureListener, listen } from './listener.ts'

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
