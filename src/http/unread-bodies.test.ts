/** Bodies that nobody reads are dropped a chunk in a turn of the loop, however fast they come. */

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { until } from '../../tests/until.ts'
import { startEdge } from './testing/start.ts'

const megabyte = 1024 * 1024

test('a body without a token holds up no turn of the loop for long', async (t) => {
  await using edge = await startEdge({})
  const channel = 'http.server.request.start'
  let taken: Socket | undefined
  const note = (message: unknown): void => {
    // The message of this channel has a socket.
    taken = (message as { readonly socket: Socket }).socket
  }
  subscribe(channel, note)
  t.after(() => unsubscribe(channel, note))
  const socket = connect(edge.port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => undefined)
  socket.write('PUT /subscriptions/x HTTP/1.1\r\nHost: here\r\nContent-Length: 9000000000\r\n\r\n')
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 401 /)
  let before = taken?.bytesRead ?? 0
  let most = 0
  const look = (): void => {
    const { bytesRead = 0 } = taken ?? {}
    most = Math.max(most, bytesRead - before)
    before = bytesRead
    looking = setImmediate(look)
  }
  let looking = setImmediate(look)
  t.after(() => clearImmediate(looking))
  const begin = before
  socket.write(Buffer.alloc(8 * megabyte))
  await until(() => before - begin >= 4 * megabyte)
  assert.ok(most <= megabyte / 4, `${most} bytes in a turn`)
})
