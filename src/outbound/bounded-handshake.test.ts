/** Handshakes whose bytes come at once: the loop turns between their steps, and no address waits for all of another's. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { until } from '../../tests/until.ts'
import { BoundedHandshake } from './bounded-handshake.ts'

test('one step of a handshake is made in a turn of the loop, and addresses take turns', async (t) => {
  const accepted: Socket[] = []
  const server = createServer((socket) => accepted.push(socket)).listen(0, '0.0.0.0')
  t.after(() => server.close())
  await once(server, 'listening')
  // The address of a server that listens on a port has this shape.
  const { port } = server.address() as AddressInfo
  let turn = 0
  const count = (): void => {
    turn++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  t.after(() => clearImmediate(counting))
  const steps: { readonly host: string; readonly turn: number }[] = []
  const hosts = ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2']
  for (const host of hosts) {
    const socket = connect(port, host)
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    new BoundedHandshake(socket).on('data', () => steps.push({ host, turn }))
  }
  await until(() => accepted.length === hosts.length)
  // On this machine, all have come when the loop looks next.
  for (const socket of accepted) socket.write('a step')
  await until(() => steps.length === hosts.length)
  assert.equal(new Set(steps.map((step) => step.turn)).size, hosts.length)
  const other = steps.findIndex(({ host }) => host === '127.0.0.2')
  assert.ok(other < 2, `the other address came at place ${other}`)
})
