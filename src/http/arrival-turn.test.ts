/** What waits for its turn before anybody knows whose it is. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { until } from '../../tests/until.ts'
import { createArrivalTurns } from './arrival-turn.ts'

test('a request that waits keeps its head no longer than its connection lasts', async () => {
  // Time stands still, so whoever is not among the first 500 connections waits.
  const turnOf = createArrivalTurns({
    callerOf: () => undefined,
    addressOf: () => '192.0.2.1',
    isProxy: () => false,
    ticks: () => 0,
    after: () => undefined,
  })
  const waiting = new Set<IncomingMessage>()
  let arrived = 0
  const server = createServer((request) => {
    arrived++
    const turn = turnOf(request)
    if (turn === undefined) return
    waiting.add(request)
    void turn.then(() => waiting.delete(request))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It listens on a port.
  const { port } = server.address() as AddressInfo
  const sockets = Array.from({ length: 502 }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.write('GET / HTTP/1.1\r\nHost: here\r\nX-Long: x\r\n\r\n')
    return socket
  })
  await until(() => arrived === sockets.length && waiting.size === 2)
  const [first, second] = waiting
  assert.ok(first !== undefined && second !== undefined)
  assert.equal(first.headers['x-long'], 'x')
  const closed = once(first.socket, 'close')
  first.socket.destroy()
  await closed
  assert.deepEqual([first.rawHeaders, first.headers], [[], {}])
  assert.equal(second.headers['x-long'], 'x')
  for (const socket of sockets) socket.destroy()
  server.close()
  await once(server, 'close')
})
