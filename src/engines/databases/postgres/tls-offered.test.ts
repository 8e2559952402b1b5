/** What sessions offer to a server's TLS: elliptic curves, and no numbers that the server chooses. */

import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import {
  certificate,
  dheAlone,
  ecdheAlone,
  noCertificate,
} from '#outbound/testing/secure-server.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import type { ServerAccess, SslMode } from '../engine.ts'
import { connect } from './connect.ts'
import { createPostgresEngine } from './postgres-engine.ts'

const engine = createPostgresEngine({
  clock: { now: () => Date.now() },
  outbound: openWay,
  folder: '/nonexistent',
})

/** The message of a session with a server that agrees to TLS and leaves after it; and how many handshakes ended. */
async function outcome(
  options: typeof dheAlone,
  sslMode: SslMode,
  connectTo: (server: ServerAccess) => Promise<unknown> = engine.inspect,
) {
  let handshakes = 0
  const secure = createTlsServer({ ...certificate, ...options }, (socket) => {
    handshakes++
    socket.on('error', () => undefined).end()
  })
  secure.on('tlsClientError', () => undefined)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('S')
      secure.emit('connection', socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The address of a server that listens on a port has this shape.
  const { port } = server.address() as AddressInfo
  const address = { host: '127.0.0.1', port, user: 'somebody', sslMode }
  try {
    const message = await connectTo({ address, password: 'secret' }).then(
      () => 'connected',
      (error: Error) => error.message,
    )
    return { message, handshakes }
  } finally {
    server.close()
  }
}

test('a server with finite-field Diffie-Hellman alone is refused in plain words, in every mode', async (t) => {
  if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'] as const) {
    const { message, handshakes } = await outcome(dheAlone, mode)
    assert.match(message, /finite-field Diffie-Hellman \(DHE\) is not offered/, mode)
    assert.equal(handshakes, 0, mode)
  }
})

test('one with elliptic curves gets its handshake', async (t) => {
  if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
  const { message, handshakes } = await outcome(ecdheAlone, 'require')
  assert.doesNotMatch(message, /Diffie-Hellman/)
  assert.equal(handshakes, 1)
})

test('one that sends many certificates is refused before they are looked at', async (t) => {
  if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
  const cert = Buffer.concat(Array(60).fill(certificate?.cert))
  const { message, handshakes } = await outcome({ ...ecdheAlone, cert }, 'require')
  assert.match(message, /its TLS handshake is larger than 32768 bytes/)
  assert.equal(handshakes, 0)
  // As the worker of a migration connects: in a process of its own, for as long as it likes.
  const work = await outcome({ ...ecdheAlone, cert }, 'require', (server) =>
    connect({ ...server, outbound: openWay }, { database: 'postgres', applicationName: 'a' }),
  )
  assert.match(work.message, /its TLS handshake is larger than 32768 bytes/)
  assert.equal(work.handshakes, 0)
})

test('with a server that has no TLS, a session that only prefers it goes on by the same connection', async () => {
  let connections = 0
  const begun: number[] = []
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('N')
      // The version of the protocol stands behind the length.
      socket.once('data', (message) => {
        begun.push(message.readUInt16BE(4))
        socket.end()
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const look = (sslMode: SslMode) =>
    engine.inspect({
      address: { host: '127.0.0.1', port, user: 'somebody', sslMode },
      password: 'secret',
    })
  try {
    await assert.rejects(look('prefer'))
    assert.deepEqual({ connections, begun }, { connections: 1, begun: [3] })
    await assert.rejects(look('require'), /does not support SSL/)
    assert.deepEqual({ connections, begun }, { connections: 2, begun: [3] })
  } finally {
    server.close()
  }
})
