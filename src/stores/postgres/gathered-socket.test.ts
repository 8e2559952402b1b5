import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createGatheredSocket } from './gathered-socket.ts'

test('what is written in one turn is sent together, in its order, also when the socket ends in that turn', async () => {
  await using server = createServer()
  const received = Promise.withResolvers<string>()
  server.on('connection', (peer) => text(peer).then(received.resolve, received.reject))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = createGatheredSocket()
  socket.connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  let sends = 0
  const { _writev: send } = socket
  socket._writev = (...given) => {
    sends++
    send?.apply(socket, given)
  }
  for (const letter of 'abc') socket.write(letter)
  assert.equal(sends, 0)
  await Promise.resolve().then(() => socket.write('d'))
  await new Promise(setImmediate)
  assert.equal(sends, 1)
  assert.equal(socket.writableCorked, 0)
  socket.write('e')
  socket.end('f')
  assert.equal(await received.promise, 'abcdef')
})
