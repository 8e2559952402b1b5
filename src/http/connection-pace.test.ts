/** Who opens connections again and again waits, and no neighbour at the address does. */

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { createConnectionPace } from './connection-pace.ts'

function pace() {
  let now = 0
  const later: { readonly at: number; run(): void }[] = []
  const paceOf = createConnectionPace({
    ticks: () => now,
    after: (milliseconds, run) => later.push({ at: now + milliseconds, run }),
  })
  const answered: string[] = []
  const open = (address: string, name: string) => {
    // All that is asked of a socket is when it closes.
    const socket = new EventEmitter() as Socket
    const wait = paceOf(address, socket)
    if (wait === undefined) answered.push(name)
    else void wait.then(() => answered.push(name))
    return socket
  }
  return {
    answered,
    open,
    later,
    async pass(milliseconds: number): Promise<void> {
      const end = now + milliseconds
      while (later.some(({ at }) => at <= end)) {
        later.sort((left, right) => left.at - right.at)
        const next = later.shift()
        now = next?.at ?? end
        next?.run()
        await Promise.resolve()
      }
      now = end
    },
  }
}

test('an address has so many new connections at once, and then so many in a second; others wait for none of it', async () => {
  const { answered, open, pass } = pace()
  for (let at = 0; at < 800; at++) open('flood', `flood${at}`)
  assert.equal(answered.length, 500)
  open('other', 'other')
  assert.equal(answered.at(-1), 'other')
  await pass(1_000)
  assert.ok(answered.length > 580 && answered.length < 620, `${answered.length}`)
  open('flood', 'neighbour')
  await pass(100)
  assert.ok(answered.includes('neighbour'), 'the newest goes first')
  assert.ok(answered.includes('flood500'), 'and one of four is the oldest')
  await pass(10_000)
  assert.equal(answered.length, 802)
})

test('connections that are gone leave the line, and a quiet address is forgotten', async () => {
  const { answered, open, pass, later } = pace()
  const sockets = Array.from({ length: 800 }, (_, at) => open('flood', `${at}`))
  for (const socket of sockets.slice(600)) socket.emit('close')
  await Promise.resolve()
  assert.equal(answered.length, 700)
  await pass(1_100)
  assert.equal(answered.length, 800)
  await pass(60_000)
  assert.equal(later.length, 0)
})
