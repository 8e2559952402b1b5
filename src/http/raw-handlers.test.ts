/** Areas that answer themselves are bounded like the pipeline: bodies they leave, answers nobody reads, the store. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { callOwner } from '#stores/awaited.ts'
import { until } from '../../tests/until.ts'
import type { RawHandler } from './routes.ts'
import { startEdge } from './testing/start.ts'

const large = 'x'.repeat(24 * 1024 * 1024)

/** Asks for a page and reads nothing. */
function ask(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  // The connection is expected to be cut.
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET /page HTTP/1.1\r\nHost: here\r\n\r\n')
  return socket
}

function mounted(handle: RawHandler, limits: object = {}) {
  return startEdge({ limits, options: { mounts: [{ prefix: '/page', handle }] } })
}

test('an answer that is not read is cut off', async () => {
  await using edge = await mounted((_, response) => response.end(large), { writeSeconds: 0.2 })
  const socket = ask(edge.port)
  await until(async () => edge.server.connections() === 1)
  await until(async () => edge.server.connections() === 0)
  socket.destroy()
})

test('answers that are not read have a bound, by their address', async () => {
  await using edge = await mounted((_, response) => response.end(large), {
    unreadBytesPerAddressMax: large.length * 2.5,
  })
  const sockets = Array.from({ length: 4 }, () => ask(edge.port))
  await until(() => edge.logged.filter(({ message }) => message === 'cut a connection').length >= 2)
  for (const socket of sockets) socket.destroy()
  const read = await edge.fetch('/page', { as: '' })
  assert.equal((await read.text()).length, large.length)
})

test('an area queries the store in the name of the address, until it has answered', async () => {
  const owners: unknown[] = []
  const later = Promise.withResolvers<void>()
  const note = (): void => void owners.push(callOwner())
  await using edge = await mounted((_, response) => {
    note()
    void later.promise.then(note)
    response.once('close', () => setImmediate(later.resolve))
    setImmediate(() => {
      note()
      response.end('here')
    })
  })
  assert.equal(await (await edge.fetch('/page', { as: '' })).text(), 'here')
  await until(() => owners.length === 3)
  assert.deepEqual(owners, ['address 127.0.0.1', 'address 127.0.0.1', undefined])
})

test('a body that an area leaves holds up no turn of the loop for long', async () => {
  const megabyte = 1024 * 1024
  let taken: Socket | undefined
  await using edge = await mounted((request, response) => {
    taken = request.socket
    response.end('here')
  })
  const socket = connect(edge.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET /page HTTP/1.1\r\nHost: here\r\nContent-Length: 9000000000\r\n\r\n')
  await once(socket, 'data')
  const begin = taken?.bytesRead ?? 0
  let before = begin
  let most = 0
  const look = (): void => {
    const { bytesRead = 0 } = taken ?? {}
    most = Math.max(most, bytesRead - before)
    before = bytesRead
    looking = setImmediate(look)
  }
  let looking = setImmediate(look)
  socket.write(Buffer.alloc(8 * megabyte))
  await until(() => before - begin >= 4 * megabyte)
  clearImmediate(looking)
  socket.destroy()
  assert.ok(most <= megabyte / 4, `${most} bytes in a turn`)
})
