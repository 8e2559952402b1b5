import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { defaultLimits } from '#kernel/limits.ts'
import { createAuthority } from '../tls/certificate.ts'
import { createListener, createSecureListener, listen } from './listener.ts'

test('a handshake that does not end is cut, and so is one that is none', async () => {
  const pair = createAuthority('test', { names: ['localhost'], now: Date.now(), days: 1 })
  const server = createListener(defaultLimits, () => false)
  const secure = createSecureListener(server, { current: () => pair, onChange: () => {} }, 50)
  const port = await listen(secure, { host: '127.0.0.1', port: 0 })
  try {
    for (const beginning of ['', '\x16\x03\x01\x02\x00\x01', 'GET / HTTP/1.1\r\n\r\n']) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.resume()
      socket.write(beginning)
      await once(socket, 'close')
    }
    const count = await new Promise((resolve) => secure.getConnections((_, open) => resolve(open)))
    assert.equal(count, 0)
  } finally {
    secure.close()
    server.close()
  }
})
