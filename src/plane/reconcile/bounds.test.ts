/** Limits of background work: how much runs at once, and how long operations are kept. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { until } from '../../../tests/until.ts'
import { scriptedProvider } from '../testing/scripted-provider.ts'
import { group, memoryStore, startPlane } from '../testing/start.ts'

const valve = (name: string): string => `${group}/providers/Vendor.Scripted/valves/${name}`
const body = { properties: { open: true } }

test('no more steps are under way at once than the limit says, and all get their turn', async () => {
  const atOnceMax = 2
  let underway = 0
  let most = 0
  const looked = new Set<string>()
  await using t = await startPlane({
    limits: { stepsAtOnceMax: atOnceMax },
    providers: [
      scriptedProvider({
        async observe({ id }) {
          underway++
          most = Math.max(most, underway)
          // Long enough for the loop to claim everything it could.
          await new Promise((resolve) => setTimeout(resolve, 20))
          underway--
          looked.add(id.key)
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  await Promise.all(names.map((name) => t.call('PUT', valve(name), body)))
  await t.plane.reconciler.idle()
  assert.equal(most, atOnceMax)
  assert.equal(looked.size, names.length)
})

test('while the heap is nearly full no step is begun', async () => {
  let isFull = true
  let looked = 0
  await using t = await startPlane({
    heap: { isFull: () => isFull },
    providers: [
      scriptedProvider({
        async observe() {
          looked++
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  await t.call('PUT', valve('a'), body)
  for (let times = 0; times < 20; times++) {
    t.plane.reconciler.wake()
    await turn()
  }
  assert.equal(looked, 0)
  isFull = false
  t.plane.reconciler.wake()
  await t.plane.reconciler.idle()
  assert.equal(looked, 1)
})

test('one resource group does not take all that may be under way', async () => {
  const open = Promise.withResolvers<void>()
  const looked: string[] = []
  await using t = await startPlane({
    limits: { stepsAtOnceMax: 4 },
    providers: [
      scriptedProvider({
        async observe({ id }) {
          looked.push(id.key)
          // Like a server that never answers.
          if (!id.key.includes('/quiet/')) await open.promise
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  const other = group.replace(/[^/]+$/, 'quiet')
  await t.call('PUT', other, { location: 'westus' }, { version: '2021-04-01' })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await t.call('PUT', valve(name), body)
  await t.call('PUT', `${other}/providers/Vendor.Scripted/valves/mine`, body)
  await until(() => looked.some((key) => key.endsWith('/mine')))
  assert.equal(looked.length, 4, looked.join())
  open.resolve()
  for (let round = 0; round < 5; round++) {
    await t.plane.reconciler.idle()
    t.clock.advance(2)
    t.plane.reconciler.wake()
  }
  assert.equal(new Set(looked).size, 7)
})

test('all management groups together do not take all that may be under way', async () => {
  const open = Promise.withResolvers<void>()
  const looked: string[] = []
  const script: Parameters<typeof scriptedProvider>[0] = {
    async observe({ id }) {
      looked.push(id.key)
      await open.promise
    },
    next: () => ({ kind: 'done' }),
  }
  await using t = await startPlane({
    limits: { stepsAtOnceMax: 4 },
    providers: [scriptedProvider(script, 'any')],
  })
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const path = `/providers/Vendor.Management/managementGroups/${name}`
    await t.call('PUT', `${path}/providers/Vendor.Scripted/valves/one`, body)
  }
  await t.call('PUT', valve('mine'), body)
  await until(() => looked.length === 4)
  open.resolve()
  assert.ok(
    looked.some((key) => key.endsWith('/mine')),
    looked.join(),
  )
})

test('work of a crowded group is considered again after a while, and each time later', async () => {
  const open = Promise.withResolvers<void>()
  let looked = 0
  const delays: number[] = []
  const store = await memoryStore()
  await using t = await startPlane({
    store,
    limits: { stepsAtOnceMax: 4 },
    providers: [
      scriptedProvider({
        async observe() {
          looked++
          await open.promise
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  const release = store.release.bind(store)
  store.release = (claim, dueAt, failed) => {
    if (looked === 3) delays.push(dueAt - t.clock.now())
    return release(claim, dueAt, failed)
  }
  for (const name of ['a', 'b', 'c', 'd']) await t.call('PUT', valve(name), body)
  for (const [at, delay] of [1000, 2000, 4000, 8000, 8000].entries()) {
    await until(() => delays.length > at)
    assert.equal(delays[at], delay)
    t.clock.advance(delay / 1000)
    t.plane.reconciler.wake()
  }
  open.resolve()
  await until(async () => {
    t.clock.advance(8)
    t.plane.reconciler.wake()
    await t.plane.reconciler.idle()
    return looked === 4
  })
})

test('work of a crowded group waits no longer than at first where other work of it ends meanwhile', async () => {
  const holds: (() => void)[] = []
  const delays: number[] = []
  const store = await memoryStore()
  await using t = await startPlane({
    store,
    limits: { stepsAtOnceMax: 4 },
    providers: [
      scriptedProvider({
        observe: () => new Promise<void>((resolve) => holds.push(resolve)),
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  const release = store.release.bind(store)
  store.release = (claim, dueAt, failed) => {
    const delay = dueAt - t.clock.now()
    if (delay > 0) delays.push(delay)
    return release(claim, dueAt, failed)
  }
  for (const name of ['a', 'b', 'c', 'd', 'e']) await t.call('PUT', valve(name), body)
  await until(() => delays.length === 2)
  t.clock.advance(1)
  t.plane.reconciler.wake()
  await until(() => delays.length === 4)
  holds.shift()?.()
  await until(() => t.plane.reconciler.counts().running === 2)
  t.clock.advance(2)
  t.plane.reconciler.wake()
  await until(() => delays.length === 5)
  assert.deepEqual(delays, [1000, 1000, 2000, 2000, 1000])
  let ended = 1
  await until(() => {
    for (const end of holds.splice(0)) {
      end()
      ended++
    }
    t.clock.advance(8)
    t.plane.reconciler.wake()
    return ended === 5
  })
})

test('an end waits some seconds for work, and leaves what takes longer', async () => {
  const open = Promise.withResolvers<void>()
  let isLooking = false
  let tooLong: (() => unknown) | undefined
  const t = await startPlane({
    timers: {
      after(milliseconds, callback) {
        if (milliseconds === 10_000 && isLooking) tooLong = callback
        return { cancel: () => undefined }
      },
    },
    providers: [
      scriptedProvider({
        async observe() {
          isLooking = true
          await open.promise
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  await t.call('PUT', valve('slow'), body)
  await until(() => isLooking)
  const ended = t[Symbol.asyncDispose]()
  await until(() => tooLong !== undefined)
  tooLong?.()
  await ended
  open.resolve()
})

/**
 * Servers that are silent until `open` is resolved, but for those of groups whose name begins with `quiet`. `waits` ends the time after which
 * work counts as waiting.
 */
async function startSilent(stepsAtOnceMax: number) {
  const open = Promise.withResolvers<void>()
  const looked: string[] = []
  const waits: (() => unknown)[] = []
  const plane = await startPlane({
    limits: { stepsAtOnceMax },
    reconcile: false,
    timers: {
      after(milliseconds, callback) {
        if (milliseconds === 2000) waits.push(callback)
        return { cancel: () => undefined }
      },
    },
    providers: [
      scriptedProvider({
        async observe({ id }) {
          looked.push(id.key)
          if (!id.key.includes('/quiet')) await open.promise
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  return { plane, looked, waits, open }
}

test('silent servers in several groups leave a place, and none at all once they have waited', async () => {
  const started = await startSilent(8)
  const { looked, waits, open } = started
  await using t = started.plane
  const groups = ['a', 'b', 'quiet', 'c', 'quiet2'].map((name) => group.replace(/[^/]+$/, name))
  for (const [at, path] of groups.entries()) {
    await t.call('PUT', path, { location: 'westus' }, { version: '2021-04-01' })
    const count = path.includes('quiet') ? 1 : 9
    for (let one = 0; one < count; one++) {
      await t.call('PUT', `${path}/providers/Vendor.Scripted/valves/v${one}`, body)
    }
    // Due one after the other.
    t.clock.advance(1)
    if (at < 2) continue
    if (at === 2) t.plane.reconciler.start()
    else t.plane.reconciler.wake()
    for (let turns = 0; turns < 50; turns++) await turn()
  }
  const found = (name: string): number => looked.filter((key) => key.includes(`/${name}/`)).length
  assert.deepEqual(
    [found('a'), found('b'), found('quiet'), found('c')],
    [6, 1, 1, 1],
    looked.join(),
  )
  assert.equal(found('quiet2'), 0)
  for (const end of waits) end()
  for (let turns = 0; turns < 50; turns++) await turn()
  open.resolve()
  assert.equal(found('quiet2'), 1)
})

test('what one owner has waiting in several groups leaves places to groups without work', async () => {
  const started = await startSilent(4)
  const { looked, waits, open } = started
  await using t = started.plane
  const put = async (name: string, count: number): Promise<void> => {
    const path = group.replace(/[^/]+$/, name)
    await t.call('PUT', path, { location: 'westus' }, { version: '2021-04-01' })
    for (let one = 0; one < count; one++) {
      await t.call('PUT', `${path}/providers/Vendor.Scripted/valves/v${one}`, body)
    }
  }
  const go = async (): Promise<void> => {
    for (let round = 0; round < 8; round++) {
      t.clock.advance(2)
      t.plane.reconciler.wake()
      for (let turns = 0; turns < 50; turns++) await turn()
      for (const end of waits.splice(0)) end()
    }
  }
  for (const name of ['a', 'b', 'c']) await put(name, 5)
  t.plane.reconciler.start()
  await go()
  await put('quiet', 1)
  await go()
  open.resolve()
  assert.ok(
    looked.some((key) => key.includes('/quiet/')),
    looked.join(),
  )
})

test('behind the work of a crowded group, that of others is claimed at once', async () => {
  const open = Promise.withResolvers<void>()
  const looked: string[] = []
  await using t = await startPlane({
    limits: { stepsAtOnceMax: 4 },
    reconcile: false,
    // No wait ends.
    timers: { after: () => ({ cancel: () => undefined }) },
    providers: [
      scriptedProvider({
        async observe({ id }) {
          looked.push(id.key)
          if (!id.key.includes('/quiet/')) await open.promise
        },
        next: () => ({ kind: 'done' }),
      }),
    ],
  })
  const other = group.replace(/[^/]+$/, 'quiet')
  await t.call('PUT', other, { location: 'westus' }, { version: '2021-04-01' })
  for (const name of ['a', 'b', 'c', 'd']) await t.call('PUT', valve(name), body)
  // Due later than the others, so that the first claim contains only those.
  t.clock.advance(1)
  await t.call('PUT', `${other}/providers/Vendor.Scripted/valves/mine`, body)
  t.plane.reconciler.start()
  for (let turns = 0; turns < 50; turns++) await turn()
  const claimed = looked.join()
  open.resolve()
  assert.match(claimed, /\/mine/)
})

test('an operation that ended is readable for as long as the limit says, and is then removed', async () => {
  const keptSeconds = 3600
  await using t = await startPlane({
    limits: { operationKeptSeconds: keptSeconds },
    providers: [
      scriptedProvider({ observe: async () => undefined, next: () => ({ kind: 'done' }) }),
    ],
  })
  const made = await t.call('PUT', valve('kept'), body)
  const path = made.operation?.statusPath ?? ''
  await t.plane.reconciler.idle()
  const sweep = async (): Promise<void> => {
    t.plane.reconciler.wake()
    await t.plane.reconciler.idle()
  }
  t.clock.advance(keptSeconds - 60)
  await sweep()
  assert.match(JSON.stringify((await t.call('GET', path)).body), /"status":"Succeeded"/)
  // The sweep runs at most every ten minutes.
  t.clock.advance(700)
  await sweep()
  await assert.rejects(async () => t.call('GET', path), { code: 'OperationNotFound' })
})
