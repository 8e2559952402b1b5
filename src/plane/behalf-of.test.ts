/** How many requests at once read large resources besides the one that they are about. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractRow } from '#stores/contract/setting.ts'
import { until } from '../../tests/until.ts'
import {
  haveRoomForLarge,
  inNameOf,
  inRequestOf,
  isForRequest,
  leaveRoomForLarge,
  roomForLarge,
  roomForRows,
} from './behalf-of.ts'
import { DryRun } from './dry-run.ts'
import { scriptedProvider } from './testing/scripted-provider.ts'
import { group, memoryStore, owner, startPlane } from './testing/start.ts'

const none = (): undefined => undefined
/** What a widget has at least. */
const bare = JSON.parse('{"parts":[]}')

/** Requests that go on until they are ended. */
function requests() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const begin = (name: string, caller: string, work: () => unknown): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.push(resolve)
    return inRequestOf(caller, none, async () => {
      await work()
      begun.push(name)
      await promise
    })
  }
  return { begun, ends, begin, settled: () => new Promise((resolve) => setTimeout(resolve, 20)) }
}

test('rows that a dry run reads count as a large one together', async () => {
  const { begun, ends, begin, settled } = requests()
  await using store = await memoryStore()
  const document = JSON.stringify({ text: 'x'.repeat(100_000) })
  const keys = ['/a/1', '/a/2', '/a/3']
  await store.transact(async (tx) => {
    for (const key of keys) await tx.insert(contractRow(key, { type: 't', document }))
  })
  const tried = (some: readonly string[]) => async () => {
    const rows = new DryRun(store)
    for (const key of some) await rows.get(key)
  }
  const all = [
    begin('a', 'one', tried(keys)),
    begin('b', 'one', tried(keys)),
    begin('c', 'one', tried(keys)),
    begin('d', 'one', tried(keys.slice(1))),
  ]
  await settled()
  assert.deepEqual(begun.toSorted(), ['a', 'b', 'd'])
  ends[0]?.()
  await settled()
  assert.ok(begun.includes('c'))
  for (const end of ends) end()
  await Promise.all(all)
})

test('of one caller two requests read large resources at once, from their first to their end', async () => {
  const { begun, ends, begin, settled } = requests()
  const all = [
    begin('a', 'one', roomForLarge),
    begin('b', 'one', async () => {
      await roomForLarge()
      // Whatever it reads after that, in whose name it may be.
      await inNameOf('another', async () => roomForLarge())
    }),
    begin('c', 'one', roomForLarge),
    begin('d', 'two', roomForLarge),
    begin('e', 'one', none),
    begin('f', 'one', () => {
      haveRoomForLarge()
      return roomForLarge()
    }),
  ]
  await settled()
  assert.deepEqual(begun.toSorted(), ['a', 'b', 'd', 'e', 'f'])
  ends[0]?.()
  await settled()
  assert.ok(begun.includes('c'))
  // What goes on by itself waits for none of them.
  assert.equal(await inNameOf('one', async () => roomForLarge()), undefined)
  for (const end of ends) end()
  await Promise.all(all)
})

test('a request that reads many small rows takes a place, too', async () => {
  const { begun, ends, begin, settled } = requests()
  const reads = (characters: number) => async (): Promise<void> => {
    for (let read = 0; read < characters; read += 100_000) await roomForRows(100_000)
  }
  const all = [
    begin('a', 'eight', reads(300_000)),
    begin('b', 'eight', reads(300_000)),
    begin('c', 'eight', reads(300_000)),
    begin('few', 'eight', reads(200_000)),
  ]
  await settled()
  assert.deepEqual(begun.toSorted(), ['a', 'b', 'few'])
  for (const end of ends) end()
  await Promise.all(all)
})

test('a place is free when the answer is made, however long it takes to be read', async () => {
  const { begun, ends, begin, settled } = requests()
  const all = ['a', 'b', 'c', 'd'].map((name) =>
    begin(name, 'six', async () => {
      await roomForLarge()
      leaveRoomForLarge()
    }),
  )
  await settled()
  assert.equal(begun.length, 4)
  for (const end of ends) end()
  await Promise.all(all)
})

test('what a request leaves behind takes no place', async () => {
  const later = Promise.withResolvers<void>()
  const left: Promise<unknown>[] = []
  for (let at = 0; at < 3; at++) {
    await inRequestOf('six', none, async () => {
      const work = async (): Promise<void> => {
        await later.promise
        await roomForLarge()
        await inNameOf('six', async () => roomForLarge())
      }
      left.push(work(), inNameOf('six', work))
    })
  }
  later.resolve()
  await Promise.all(left)
  const { begun, ends, begin, settled } = requests()
  const all = ['a', 'b'].map((name) => begin(name, 'six', roomForLarge))
  await settled()
  assert.deepEqual(begun, ['a', 'b'])
  for (const end of ends) end()
  await Promise.all(all)
})

test('work in the background is done for no request, though one has brought it', async () => {
  const inside: boolean[] = []
  await using t = await startPlane({
    providers: [
      scriptedProvider({
        async observe() {
          inside.push(isForRequest())
          return null
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  const path = `${group}/providers/Vendor.Scripted/valves/one`
  await inRequestOf('seven', none, async () => {
    await t.call('PUT', path, { properties: { open: true } })
    await t.plane.reconciler.idle()
  })
  assert.ok(inside.length > 0)
  assert.ok(!inside.includes(true))
})

test('nobody waits for whoever does not wait any more', async () => {
  const { ends, begin, settled } = requests()
  const held = ['a', 'b'].map((name) => begin(name, 'three', roomForLarge))
  const gone = new AbortController()
  const waiting = inRequestOf(
    'three',
    () => gone.signal,
    async () => roomForLarge(),
  )
  await settled()
  gone.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/)
  for (const end of ends) end()
  await Promise.all(held)
})

test('readers and what is sent from inside count as such, once a row is known to be large', async () => {
  await using t = await startPlane()
  const path = `${group}/providers/Vendor.Sample/widgets/large`
  const version = '2024-01-01'
  await t.call('PUT', path, {
    location: 'here',
    properties: { ...bare, note: 'x'.repeat(300 * 1024) },
  })
  const { reader, caller } = t.plane.services
  const sent = { method: 'GET', path, version, principal: owner, correlationId: '' } as const
  const each = async (): Promise<void> => {
    for await (const _one of reader.each({ type: 'Sample/widgets', under: group })) return
  }
  for (const read of [
    () => reader.get(path),
    each,
    () => reader.page({ type: 'Sample/widgets', under: group, after: undefined, limit: 9 }),
    () => caller.call(sent),
    () =>
      caller.dryRun([{ path, version, body: { location: 'here', properties: bare } }], owner, ''),
    () => t.plane.services.listTracked({ under: { key: group.toLowerCase() } as never, limit: 9 }),
  ]) {
    const { begun, ends, begin, settled } = requests()
    const all = ['a', 'b', 'c'].map((name) => begin(name, 'four', read))
    await until(() => begun.length >= 2)
    await settled()
    assert.equal(begun.length, 2, String(read))
    for (const end of ends) end()
    await Promise.all(all)
  }
})
