/** What a client sends over a web socket is bounded, also where it has no bytes. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { acceptWebSocket } from './accept-web-socket.ts'

const handshake = [
  'GET / HTTP/1.1',
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
].join('\r\n')

/** Masked with zeros; `opcode` 1 begins a text that is continued, 0 continues it. */
const emptyPiece = (opcode: number) => Buffer.from([opcode, 0x80, 0, 0, 0, 0])

test('a message of empty pieces is refused when it has too many of them', async () => {
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    acceptWebSocket(request, socket, head, {
      messageBytesMax: 10,
      waitingBytesMax: 10,
      pingSeconds: 60,
      closeSeconds: 0,
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Listening on TCP, so it has an address of that kind.
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  let got = ''
  client.setEncoding('latin1').on('data', (text: string) => {
    got += text
  })
  client.on('error', () => {})
  const closed = new Promise((resolve) => client.on('close', resolve))
  client.write(`${handshake}\r\n\r\n`)
  client.write(Buffer.concat([emptyPiece(1), ...Array.from({ length: 12 }, () => emptyPiece(0))]))
  // A text in the middle of another is a fault as well: the connection closes whatever is told.
  client.write(emptyPiece(1))
  await closed
  server.close()
  assert.match(got, /a message has at most 10 bytes/)
})
