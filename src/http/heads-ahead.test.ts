/** Requests ahead of their turn have room together, whoever reads their answers. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { until } from '../../tests/until.ts'
import { createHeadsAhead } from './heads-ahead.ts'

const short = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n'
const names = Array.from({ length: 300 }, (_, at) => `n${at}: v\r\n`).join('')
const large = `GET / HTTP/1.1\r\nHost: here\r\n${names}\r\n`

async function open(isNoted = true) {
  const noteAhead = createHeadsAhead(64 * 1024)
  const unanswered: ServerResponse[] = []
  const server = createServer((request, response) => {
    if (isNoted) noteAhead(request, response)
    unanswered.push(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It listens on a port.
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  return {
    noteAhead,
    unanswered,
    send(text: string): Socket {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined).resume()
      socket.write(text)
      sockets.push(socket)
      return socket
    },
    answerAll() {
      for (const response of unanswered.splice(0)) response.end()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('past the room, the connection with most is ended, and no other', async () => {
  await using setting = await open()
  const few = setting.send(short.repeat(3))
  await until(() => setting.unanswered.length === 3)
  const many = setting.send(large.repeat(5))
  await once(many, 'close')
  setting.answerAll()
  await once(few, 'data')
})

test('an answer that was read gives its room back, and so does a connection that ended', async () => {
  await using setting = await open()
  const socket = setting.send('')
  for (let round = 0; round < 10; round++) {
    socket.write(large.repeat(2))
    await until(() => setting.unanswered.length === 2)
    const all = Promise.all(setting.unanswered.map((response) => once(response, 'close')))
    setting.answerAll()
    await all
  }
  for (let round = 0; round < 10; round++) {
    const ended = setting.send(large.repeat(2))
    await until(() => setting.unanswered.length === 2)
    const [first] = setting.unanswered.splice(0)
    const closed = once(first ?? assert.fail(), 'close')
    ended.destroy()
    await closed
  }
  assert.equal(socket.destroyed, false)
})

test('in the turn in which one was ended, whoever sends more is ended too, and nobody after it', async () => {
  await using setting = await open(false)
  const { noteAhead, unanswered } = setting
  const many = setting.send(large.repeat(5))
  await until(() => unanswered.length === 5)
  const more = setting.send(large)
  await until(() => unanswered.length === 6)
  const later = setting.send(large)
  await until(() => unanswered.length === 7)
  const last = unanswered.pop() ?? assert.fail()
  const ends = [many, more].map((socket) => once(socket, 'close'))
  const gone = unanswered.map(({ req }) => once(req.socket, 'close'))
  for (const response of unanswered) noteAhead(response.req, response)
  await Promise.all([...ends, ...gone])
  noteAhead(last.req, last)
  assert.equal(last.req.socket.destroyed, false)
  later.destroy()
})
