/** The loop that claims: what wakes it, how it waits, what it leaves behind, and a store that is away. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Log, Timers } from '#kernel/ports.ts'
import { type Store, StoreConflict, StoreUnavailable } from '#stores/store.ts'
import { mortalStore } from '../testing/mortal-store.ts'
import { scriptedProvider, type ValveScript } from '../testing/scripted-provider.ts'
import { group, memoryStore, startPlane, type TestPlane } from '../testing/start.ts'

const valve = (name: string): string => `${group}/providers/Vendor.Scripted/valves/${name}`
const body = { properties: { open: true } }
const done: ValveScript = { observe: async () => 'seen', next: () => ({ kind: 'done' }) }

/** Timers that never fire, and a list of those that are set. Renewals of leases are left out. */
function stillTimers(): { readonly timers: Timers; readonly waits: number[]; live: number } {
  const still = {
    waits: [] as number[],
    live: 0,
    timers: {
      after(milliseconds: number) {
        let isLive = milliseconds !== 10_000
        if (isLive) still.waits.push(milliseconds)
        if (isLive) still.live++
        return {
          cancel() {
            if (isLive) still.live--
            isLive = false
          },
        }
      },
    },
  }
  return still
}

/** Some turns of the event loop, for work that was not awaited. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await turn()
}

async function stateOf(t: TestPlane, name: string): Promise<string> {
  const answer = await t.call('GET', valve(name))
  return JSON.parse(JSON.stringify(answer.body)).properties.provisioningState
}

/** Each test's own store, which it may change. */
async function changeable(): Promise<Store & AsyncDisposable> {
  const inner = await memoryStore()
  return { ...mortalStore(inner).store, [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose]() }
}

test('without any nap, the end of work and what another process says make it look', async () => {
  await using store = await changeable()
  let say = (): void => undefined
  store.onWork = (callback) => {
    say = callback
  }
  const { timers } = stillTimers()
  const providers = [scriptedProvider(done)]
  await using writer = await startPlane({ store, reconcile: false, providers })
  await using t = await startPlane({ store, timers, providers, limits: { stepsAtOnceMax: 1 } })
  await turns()
  const names = ['a', 'b', 'c']
  for (const name of names) await writer.call('PUT', valve(name), body)
  await turns()
  assert.equal(await stateOf(t, 'a'), 'Creating', 'nobody has said anything')
  say()
  await turns()
  for (const name of names) assert.equal(await stateOf(t, name), 'Succeeded')
})

test('what is heard of while it claims is looked for once more', async () => {
  await using store = await changeable()
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const { claimDue } = store
  store.claimDue = async (...given) => {
    const claims = await claimDue(...given)
    reached.resolve()
    await go.promise
    return claims
  }
  store.onWork = () => undefined
  const { timers } = stillTimers()
  await using t = await startPlane({ store, timers, providers: [scriptedProvider(done)] })
  try {
    await reached.promise
    await t.call('PUT', valve('a'), body)
  } finally {
    go.resolve()
  }
  await turns()
  assert.equal(await stateOf(t, 'a'), 'Succeeded')
})

test('a stop during a claim claims nothing more, whatever was heard meanwhile', async () => {
  await using store = await changeable()
  const go = Promise.withResolvers<void>()
  const { claimDue } = store
  let claims = 0
  store.claimDue = async (...given) => {
    claims++
    await go.promise
    return claimDue(...given)
  }
  const t = await startPlane({ store, timers: stillTimers().timers })
  await turns()
  t.plane.reconciler.wake()
  const ended = t[Symbol.asyncDispose]()
  go.resolve()
  await ended
  assert.equal(claims, 1)
})

test('the store is not asked for work while there is no room for it', async () => {
  await using store = await changeable()
  const { claimDue } = store
  let claims = 0
  store.claimDue = (...given) => {
    claims++
    return claimDue(...given)
  }
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const script: ValveScript = {
    async observe() {
      reached.resolve()
      await go.promise
    },
    next: () => ({ kind: 'done' }),
  }
  const { timers } = stillTimers()
  const providers = [scriptedProvider(script)]
  await using t = await startPlane({ store, timers, providers, limits: { stepsAtOnceMax: 1 } })
  try {
    await t.call('PUT', valve('a'), body)
    await reached.promise
    await turns()
    const before = claims
    await t.call('PUT', valve('b'), body)
    t.plane.reconciler.wake()
    await turns()
    assert.equal(claims, before)
  } finally {
    go.resolve()
  }
})

test('it is not idle while something is due', async () => {
  await using store = await changeable()
  await using t = await startPlane({ store })
  let looks = 0
  store.nextDue = async () => (++looks < 5 ? t.clock.now() : undefined)
  await t.plane.reconciler.idle()
  // The loop may look once more by itself.
  assert.ok(looks >= 5, `${looks}`)
})

test('a store that is away costs delay only', async () => {
  await using store = await changeable()
  const { claimDue, nextDue } = store
  let isAway = true
  const reach = <T>(call: () => Promise<T>): Promise<T> =>
    isAway ? Promise.reject(new StoreUnavailable('away', 'later')) : call()
  store.claimDue = (...given) => reach(() => claimDue(...given))
  store.nextDue = () => reach(nextDue)
  const still = stillTimers()
  await using t = await startPlane({
    store,
    timers: still.timers,
    providers: [scriptedProvider(done)],
  })
  await t.call('PUT', valve('a'), body)
  await turns()
  assert.equal(await stateOf(t, 'a'), 'Creating')
  assert.equal(still.waits.at(-1), 5000, 'it looks again by itself')
  isAway = false
  t.plane.reconciler.wake()
  await turns()
  assert.equal(await stateOf(t, 'a'), 'Succeeded')
})

test('it naps once, neither for nothing nor for long', async () => {
  await using store = await changeable()
  const still = stillTimers()
  await using t = await startPlane({ store, timers: still.timers })
  for (const [due, wait] of [
    [undefined, 5000],
    [t.clock.now() - 60_000, 10],
    [t.clock.now() + 60_000, 5000],
    [t.clock.now() + 700, 700],
  ] as const) {
    store.nextDue = async () => due
    t.plane.reconciler.wake()
    await turns()
    assert.equal(still.waits.at(-1), wait, `due ${due}`)
    assert.equal(still.live, 1)
  }
})

test('after its end nothing is left: no nap, no event, no claim, no work', async () => {
  await using store = await changeable()
  const { claimDue, nextDue } = store
  let claims = 0
  store.claimDue = (...given) => {
    claims++
    return claimDue(...given)
  }
  const answer = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  let events: AbortSignal | undefined
  const still = stillTimers()
  const t = await startPlane({
    store,
    timers: still.timers,
    providers: [
      scriptedProvider({
        async observe() {
          reached.resolve()
          await finish.promise
        },
        next: () => ({ kind: 'done' }),
        watchEvents: (_, signal) => {
          events = signal
        },
      }),
    ],
  })
  await t.call('PUT', valve('a'), body)
  await reached.promise
  await turns()
  // The work's lease, and the time after which it counts as waiting.
  assert.equal(still.live, 2)
  // A pass that has claimed, and waits to hear what is due next.
  store.nextDue = async () => {
    await answer.promise
    return nextDue()
  }
  t.plane.reconciler.wake()
  await turns()
  let isEnded = false
  const ended = t[Symbol.asyncDispose]().then(() => {
    isEnded = true
  })
  await turns()
  assert.equal(isEnded, false, 'work is under way')
  assert.equal(events?.aborted, true)
  finish.resolve()
  await ended
  answer.resolve()
  await turns()
  assert.equal(still.live, 0)
  const before = claims
  t.plane.reconciler.wake()
  await turns()
  assert.equal(claims, before)
})

test('an event disturbs no other resource, and makes nothing of what is not stored', async () => {
  await using store = await changeable()
  const { claimDue } = store
  const claimed: string[] = []
  store.claimDue = async (...given) => {
    const claims = await claimDue(...given)
    claimed.push(...claims.map(({ key }) => key))
    return claims
  }
  let wake: (key: string) => void = () => undefined
  let looks = 0
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  await using t = await startPlane({
    store,
    providers: [
      scriptedProvider({
        async observe() {
          looks++
          reached.resolve()
          await go.promise
        },
        next: () => ({ kind: 'wait', seconds: 3600 }),
        watchEvents: (heard) => {
          wake = heard
        },
      }),
    ],
  })
  try {
    await t.call('PUT', valve('a'), body)
    await reached.promise
    wake(valve('b').toLowerCase())
    await turns()
  } finally {
    go.resolve()
  }
  await t.plane.reconciler.idle()
  assert.equal(looks, 1)
  assert.deepEqual(claimed, [valve('a').toLowerCase()])
})

test('an event that cannot be written down is lost, and nothing else', async () => {
  await using store = await changeable()
  const { transact } = store
  let wake: (key: string) => void = () => undefined
  await using t = await startPlane({
    store,
    providers: [
      scriptedProvider({
        ...done,
        watchEvents: (heard) => {
          wake = heard
        },
      }),
    ],
  })
  store.transact = () => Promise.reject(new StoreUnavailable('away', 'later'))
  wake(valve('a').toLowerCase())
  await turns()
  store.transact = transact
  await t.call('PUT', valve('a'), body)
  await t.plane.reconciler.idle()
  assert.equal(await stateOf(t, 'a'), 'Succeeded')
})

test('what has ended is swept every ten minutes, not at every look', async () => {
  await using store = await changeable()
  let sweeps = 0
  store.sweepOperations = async () => {
    sweeps++
    return 0
  }
  await using t = await startPlane({ store, timers: stillTimers().timers })
  for (let count = 0; count < 3; count++) {
    t.plane.reconciler.wake()
    await turns()
  }
  assert.equal(sweeps, 1)
  t.clock.advance(601)
  t.plane.reconciler.wake()
  await turns()
  assert.equal(sweeps, 2)
})

test('what was planned while the clock was ahead is not waited for when it is set back', async () => {
  let looks = 0
  const waiting: ValveScript = {
    observe: async () => ++looks,
    next: () => ({ kind: 'wait', seconds: 60 }),
  }
  await using t = await startPlane({
    providers: [scriptedProvider(waiting)],
    timers: stillTimers().timers,
  })
  const day = 24 * 3600
  const look = async (): Promise<void> => {
    t.plane.reconciler.wake()
    await turns()
  }
  t.clock.advance(day)
  await t.call('PUT', valve('a'), body)
  await look()
  assert.equal(looks, 1)
  t.clock.advance(-day)
  // The first one finds what is planned, the next one claims it.
  await look()
  await look()
  assert.equal(looks, 2)
  await look()
  assert.equal(looks, 2)
  t.clock.advance(61)
  await look()
  assert.equal(looks, 3)
})

test('what has ended is swept again as long as a sweep leaves more', async () => {
  await using store = await changeable()
  let ended = 1203
  store.sweepOperations = async (_, limit) => {
    const swept = Math.min(ended, limit)
    ended -= swept
    return swept
  }
  const { timers, waits } = stillTimers()
  await using t = await startPlane({ store, timers })
  await turns()
  for (let looks = 0; looks < 2; looks++) {
    assert.ok((waits.at(-1) ?? 0) < 1000, 'the next look comes soon')
    t.clock.advance(1)
    t.plane.reconciler.wake()
    await turns()
  }
  assert.equal(ended, 0)
  assert.equal(waits.at(-1), 5000)
})

for (const [error, level] of [
  [new StoreConflict('somebody else has it'), 'warn'],
  [new StoreUnavailable('away', 'later'), 'warn'],
  [new TypeError('x is undefined'), 'error'],
] as const) {
  test(`a ${error.name} of background work is logged as ${level}`, async () => {
    const levels: string[] = []
    const keep =
      (one: string): Log['warn'] =>
      (_, message) => {
        if (message === 'background work failed') levels.push(one)
      }
    const log: Log = { debug() {}, info() {}, warn: keep('warn'), error: keep('error') }
    await using t = await startPlane({
      log,
      timers: stillTimers().timers,
      providers: [scriptedProvider({ ...done, observe: () => Promise.reject(error) })],
    })
    await t.call('PUT', valve('a'), body)
    await turns()
    assert.deepEqual(levels, [level])
  })
}
