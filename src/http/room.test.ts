/** Large bodies have limited room, per principal and in total. The others wait for their turn and are answered. */

import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import Type from 'typebox'
import { createGroupRoom, createRoom, enterAll, inRoom } from '#kernel/room.ts'
import { smallBodyBytes } from './exchange.ts'
import { startEdge } from './testing/start.ts'

const large = smallBodyBytes * 4

test('a principal has room for so many bytes, and all together for so many', async () => {
  const room = createRoom({ perOwnerMax: large * 2, sumMax: large * 3 })
  const entered: string[] = []
  const leave: (() => void)[] = []
  const enter = async (principal: string, bytes = large): Promise<void> => {
    leave.push(await room.enter(principal, bytes))
    entered.push(principal)
  }
  void Promise.all(['a', 'a', 'a', 'b', 'b'].map((principal) => enter(principal)))
  await turn()
  assert.deepEqual(entered, ['a', 'a', 'b'])
  assert.deepEqual(room.state(), { waiting: 2, taken: large * 3 })
  leave[0]?.()
  leave[0]?.()
  await turn()
  assert.deepEqual(entered.slice(3), ['b'])
  for (const one of leave) one()
  await turn()
  for (const one of leave) one()
  assert.deepEqual(entered.slice(3), ['b', 'a'])
  await enter('a', large * 100)
  assert.equal(room.state().taken, large * 2)
})

test('whoever waits no longer leaves the queue and its signal', async () => {
  const room = createRoom({ perOwnerMax: 1, sumMax: 1 })
  const leave = await room.enter('a', 1)
  const client = new AbortController()
  const waiting = room.enter('a', 1, () => client.signal)
  client.abort(new Error('gone'))
  await assert.rejects(async () => await waiting, /gone/)
  assert.deepEqual(room.state(), { waiting: 0, taken: 1 })
  assert.deepEqual(getEventListeners(client.signal, 'abort'), [])
  // Nor is it begun where there is room.
  leave()
  const begun = inRoom(
    room,
    'b',
    () => assert.fail('begun'),
    () => client.signal,
  )
  await assert.rejects(begun, /gone/)
  assert.deepEqual(room.state(), { waiting: 0, taken: 0 })
})

test('work may need a room of groups besides others', async () => {
  const room = createRoom({ perOwnerMax: 2, sumMax: 2 })
  const groups = createGroupRoom({ perOwnerMax: 1, sumMax: 2, spare: 1 })
  const owners = '/subscriptions/s/resourcegroups/g'
  const enterBoth = () =>
    enterAll([
      { room, owners: 'a' },
      { room: groups, owners },
    ])
  const leave = await enterBoth()
  const waiting = enterBoth()
  assert.deepEqual([room.state().waiting, groups.state()], [1, { waiting: 1, taken: 1 }])
  leave()
  const again = await waiting
  again()
  assert.deepEqual([room.state().taken, groups.state().taken], [0, 0])
})

test('of owners who come new the first is admitted, also where somebody before gave up', async () => {
  const room = createRoom({ perOwnerMax: 1, sumMax: 1 })
  const leave = await room.enter('holder', 1)
  const entered: string[] = []
  const enter = async (name: string): Promise<void> => {
    await room.enter(name, 1)
    entered.push(name)
  }
  const client = new AbortController()
  const waiting = room.enter('a', 1, () => client.signal)
  void enter('b')
  void enter('a')
  client.abort(new Error('gone'))
  await assert.rejects(async () => await waiting, /gone/)
  leave()
  await turn()
  assert.deepEqual(entered, ['b'])
})

test('what ends looks at one of each owner, however many wait', async () => {
  let looks = 0
  const counted = (owners: readonly string[]): readonly string[] =>
    Object.defineProperty(owners, 'reduce', {
      get() {
        looks++
        return Array.prototype.reduce
      },
    })
  const room = createRoom({ perOwnerMax: 1, sumMax: 3 })
  const leave: (() => void)[] = []
  const enter = async (name: string): Promise<void> => {
    leave.push(await room.enter(counted([name]), 1))
  }
  for (let at = 0; at < 300; at++) for (const name of ['a', 'b', 'c']) void enter(name)
  await turn()
  assert.equal(leave.length, 3)
  looks = 0
  leave[0]?.()
  await turn()
  assert.equal(leave.length, 4)
  assert.ok(looks > 0 && looks < 50, `${looks}`)
})

test('work of several owners waits for room of each, and some is left to whoever has none', async () => {
  const room = createRoom({ perOwnerMax: 3, sumMax: 5, spare: 1 })
  const entered: string[] = []
  const leave: (() => void)[] = []
  const enter = async (name: string, ...owners: readonly string[]): Promise<void> => {
    leave.push(await room.enter([name, ...owners], 1))
    entered.push(name)
  }
  for (const name of ['a', 'a', 'b', 'b', 'b']) void enter(name, 'company')
  await turn()
  assert.deepEqual(entered, ['a', 'a', 'b'], 'three of the company')
  void enter('b')
  await turn()
  assert.deepEqual(entered, ['a', 'a', 'b', 'b'])
  void enter('a')
  void enter('c')
  await turn()
  assert.deepEqual(entered.slice(4), ['c'], 'the last is for whoever has none')
  for (const name of ['a', 'd']) void enter(name)
  leave[0]?.()
  await turn()
  assert.deepEqual(entered.slice(5), ['d'], 'whoever has least is first')
  while (leave.length > 0) {
    leave.shift()?.()
    await turn()
  }
  assert.equal(entered.length, 10)
  assert.deepEqual(room.state(), { waiting: 0, taken: 0 })
})

test('groups of one subscription take turns as all do, and leave places to another subscription', async () => {
  const key = (subscription: string, group: string) =>
    `/subscriptions/${subscription}/resourcegroups/${group}`
  const room = createGroupRoom({ perOwnerMax: 2, sumMax: 6, spare: 2 })
  const entered: string[] = []
  const leave: (() => void)[] = []
  const enter = async (group: string, subscription = 's'): Promise<void> => {
    leave.push(await room.enter(key(subscription, group), 1))
    entered.push(group)
  }
  // The fifth place is for a group without one, and the last for another subscription.
  void Promise.all(['a', 'a', 'a', 'b', 'b', 'b', 'c', 'b', 'd', 'd'].map((one) => enter(one)))
  await turn()
  assert.deepEqual(entered, ['a', 'a', 'b', 'b', 'c'])
  void enter('other', 't')
  await turn()
  assert.deepEqual(entered.slice(5), ['other'])
  leave[0]?.()
  leave[2]?.()
  await turn()
  // Before what waited of the others: it has nothing.
  assert.deepEqual(entered.slice(6), ['d'])
  leave[1]?.()
  await turn()
  assert.deepEqual(entered.slice(7), ['a'])
  const gone = inRoom(
    room,
    key('s', 'a'),
    () => 'begun',
    () => AbortSignal.abort(new Error('gone')),
  )
  await assert.rejects(gone, /gone/)
})

test('of groups of one subscription whoever has least goes first', async () => {
  const key = (subscription: string, group: string) =>
    `/subscriptions/${subscription}/resourcegroups/${group}`
  const room = createGroupRoom({ perOwnerMax: 2, sumMax: 4, spare: 0 })
  const entered: string[] = []
  const enter = async (group: string, subscription = 's'): Promise<() => void> => {
    const leave = await room.enter(key(subscription, group), 1)
    entered.push(group)
    return leave
  }
  const other = await enter('other', 't')
  for (const one of ['a', 'a', 'b', 'b', 'c']) void enter(one)
  await turn()
  other()
  await turn()
  assert.deepEqual(entered, ['other', 'a', 'a', 'b', 'c'])
})

test('an owner who stays short is before those who leave and want to come again', async () => {
  const room = createRoom({ perOwnerMax: 1, sumMax: 2 })
  const entered: string[] = []
  const leave = new Map<string, () => void>()
  const enter = async (owner: string): Promise<void> => {
    leave.set(owner, await room.enter(owner, 1))
    entered.push(owner)
  }
  for (const owner of ['long', 'longer', 'long', 'longer', 'short', 'short']) void enter(owner)
  await turn()
  leave.get('long')?.()
  await turn()
  leave.get('short')?.()
  await turn()
  assert.deepEqual(entered, ['long', 'longer', 'short', 'long'])
  leave.get('longer')?.()
  await turn()
  assert.deepEqual(entered.slice(4), ['short'])
})

test('an owner who comes new waits for nobody’s queue, and owners who wait take turns', async () => {
  const room = createRoom({ perOwnerMax: 1, sumMax: 2 })
  const entered: string[] = []
  const leave: (() => void)[] = []
  const enter = async (owner: string): Promise<void> => {
    leave.push(await room.enter(owner, 1))
    entered.push(owner)
  }
  for (const owner of ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'new', 'other']) void enter(owner)
  await turn()
  for (let at = 0; at < 10; at++) {
    leave.shift()?.()
    await turn()
  }
  // Whoever had a place when the others began to wait comes after them.
  assert.deepEqual(entered.slice(0, 4), ['a', 'b', 'new', 'other'])
  assert.equal(entered.length, 10)
})

test('many large bodies at once are all answered, a few at a time', async () => {
  const text = 'x'.repeat(large)
  const running = { now: 0, most: 0 }
  await using edge = await startEdge({
    limits: { bodyBytesAtOncePerPrincipalMax: large * 2.5 },
    directoryRoutes: [
      {
        method: 'POST',
        path: '/directory/large',
        action: 'x',
        status: 200,
        body: Type.Object({ text: Type.String() }),
        async run() {
          running.now += 1
          running.most = Math.max(running.most, running.now)
          for (let turns = 0; turns < 20; turns++) await turn()
          running.now -= 1
          return {}
        },
      },
    ],
  })
  const post = async (): Promise<number> => {
    const answer = await edge.fetch('/directory/large', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    })
    await answer.text()
    return answer.status
  }
  const statuses = await Promise.all(Array.from({ length: 12 }, post))
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.equal(running.most, 2)

  // A client that goes away while it waits, or before its body has arrived, frees the room.
  const sockets = Array.from({ length: 5 }, () => connect(edge.port, '127.0.0.1'))
  for (const socket of sockets) {
    socket.write(
      `POST /directory/large HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer owner\r\nContent-Type: application/json\r\nContent-Length: ${large}\r\n\r\n{`,
    )
  }
  const waiting = post()
  for (const socket of sockets) await once(socket.end(), 'finish')
  for (const socket of sockets) socket.destroy()
  assert.equal(await waiting, 200)
})
