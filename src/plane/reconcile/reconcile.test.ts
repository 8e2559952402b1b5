/** The reconciler's promises one by one: leases, deletes, deadlines, events, waits, and what it leaves behind. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ApiError } from '#kernel/error.ts'
import type { Timers } from '#kernel/ports.ts'
import type { Store } from '#stores/store.ts'
import { type Next, StepFailure } from '../declare/reconciled.ts'
import type { Outcome } from '../plane.ts'
import { mortalStore } from '../testing/mortal-store.ts'
import {
  scriptedProvider,
  type ValveScript,
  valveDeadlineSeconds,
} from '../testing/scripted-provider.ts'
import { group, memoryStore, startPlane, type TestPlane, testClock } from '../testing/start.ts'
import { WatchedEngine } from '../testing/watched-engine.ts'

const widget = `${group}/providers/Vendor.Sample/widgets/w`
const valve = `${group}/providers/Vendor.Scripted/valves/v`
const open = { properties: { open: true } }
const leaseSeconds = 30

function parts(...names: readonly string[]): object {
  return { location: 'here', properties: { parts: names } }
}

// What the sample and scripted types show. A test that reads anything else fails.
function wire(outcome: Outcome): {
  readonly status: string
  readonly error?: { readonly code: string }
  readonly properties: { readonly provisioningState: string }
} {
  return JSON.parse(JSON.stringify(outcome.body))
}

async function stateOf(t: TestPlane, path: string): Promise<string> {
  return wire(await t.call('GET', path)).properties.provisioningState
}

async function endOf(t: TestPlane, began: Outcome): Promise<string> {
  const { status, error } = wire(await t.call('GET', began.operation?.statusPath ?? ''))
  return error === undefined ? status : `${status} ${error.code}`
}

/** A point where work waits until it is released; `reached` tells that it has arrived. */
function barrier(): Disposable & {
  readonly reached: Promise<void>
  arrive(): Promise<void>
  open(): void
} {
  const wait = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    arrive: () => {
      reached.resolve()
      return wait.promise
    },
    open: wait.resolve,
    // A failed test releases it, or nobody could wait for the work to end.
    [Symbol.dispose]: wait.resolve,
  }
}

/** The timers of a process that hangs: nothing it planned is done. */
const stoppedTimers: Timers = { after: () => ({ cancel: () => undefined }) }

describe('leases', () => {
  test('a worker that lost its lease commits nothing and performs nothing more', async () => {
    const clock = testClock()
    await using store = await memoryStore()
    const engine = new WatchedEngine()
    const hanging = new WatchedEngine()
    // Two handles of one engine, to see who does what.
    Object.assign(hanging, { parts: engine.parts })
    await using slow = await startPlane({
      store: { ...mortalStore(store).store, onWork: () => undefined },
      clock,
      engine: hanging,
      timers: stoppedTimers,
    })
    using held = barrier()
    hanging.gate = () => held.arrive()
    await slow.call('PUT', widget, parts('a', 'b'))
    await held.reached
    clock.advance(leaseSeconds + 1)
    await using quick = await startPlane({ store, clock, engine })
    await quick.plane.reconciler.idle()
    assert.equal(await stateOf(quick, widget), 'Succeeded')
    await quick.call('PUT', widget, parts('c'))
    await quick.plane.reconciler.idle()
    const before = await store.get(widget.toLowerCase())
    assert.equal(before?.document.includes('"state":"Succeeded"'), true)
    held.open()
    await turns()
    assert.deepEqual(await store.get(widget.toLowerCase()), before)
    assert.equal(hanging.journal.length, 1, hanging.journal.join('; '))
  })

  for (const place of ['observe', 'perform'] as const) {
    test(`a worker that cannot renew its lease, held up in ${place}, performs nothing after its end`, async () => {
      const clock = testClock()
      await using inner = await memoryStore()
      const broken = (): Promise<never> => Promise.reject(new Error('the way to it is broken'))
      const store: Store = { ...mortalStore(inner).store, renew: broken }
      using held = barrier()
      let performed = 0
      const script: ValveScript = {
        // It has nothing to observe, so no write of ours notices the lost claim.
        async observe() {
          // The first observation is recorded, the second has nothing new.
          if (place === 'observe' && performed === 1) await held.arrive()
          return null
        },
        next: () => (performed < 2 ? { kind: 'step', step: `${performed}` } : { kind: 'done' }),
        async perform() {
          performed++
          if (place === 'perform') await held.arrive()
        },
      }
      await using t = await startPlane({ store, clock, providers: [scriptedProvider(script)] })
      await t.call('PUT', valve, open)
      await held.reached
      const row = await store.get(valve.toLowerCase())
      clock.advance(leaseSeconds + 1)
      // Another replica has claimed it, and has not done anything yet.
      const [taken] = await store.claimDue('another', clock.now(), leaseSeconds, 10)
      assert.equal(taken?.key, valve.toLowerCase())
      held.open()
      await turns()
      await t.plane.reconciler.idle()
      assert.equal(performed, 1)
      assert.deepEqual(await store.get(valve.toLowerCase()), row)
    })
  }

  test('what a worker saw before it lost its lease is not written down after', async () => {
    const clock = testClock()
    await using store = await memoryStore()
    using held = barrier()
    const slowly: ValveScript = {
      async observe() {
        await held.arrive()
        return 'seen long ago'
      },
      next: () => ({ kind: 'done' }),
    }
    await using slow = await startPlane({
      store: { ...mortalStore(store).store, onWork: () => undefined },
      clock,
      providers: [scriptedProvider(slowly)],
      timers: stoppedTimers,
    })
    await slow.call('PUT', valve, open)
    await held.reached
    clock.advance(leaseSeconds + 1)
    const script: ValveScript = { observe: async () => 'new', next: () => ({ kind: 'done' }) }
    await using quick = await startPlane({ store, clock, providers: [scriptedProvider(script)] })
    await quick.plane.reconciler.idle()
    const before = await store.get(valve.toLowerCase())
    assert.equal(before?.document.includes('"observed":"new"'), true)
    held.open()
    await turns()
    assert.deepEqual(await store.get(valve.toLowerCase()), before)
  })

  test('a worker that comes late takes nothing from what was made anew under the same name', async () => {
    const clock = testClock()
    await using store = await memoryStore()
    using held = barrier()
    const late: ValveScript = {
      async observe({ desired }) {
        if (desired === undefined) await held.arrive()
      },
      next: () => ({ kind: 'done' }),
    }
    await using slow = await startPlane({
      store: { ...mortalStore(store).store, onWork: () => undefined },
      clock,
      providers: [scriptedProvider(late)],
      timers: stoppedTimers,
    })
    await slow.call('PUT', valve, open)
    for (let count = 0; count < 100 && (await stateOf(slow, valve)) !== 'Succeeded'; count++) {
      await turns()
    }
    await slow.call('DELETE', valve)
    await held.reached
    clock.advance(leaseSeconds + 1)
    const script: ValveScript = { observe: async () => 0, next: () => ({ kind: 'done' }) }
    await using quick = await startPlane({ store, clock, providers: [scriptedProvider(script)] })
    await quick.plane.reconciler.idle()
    await quick.call('PUT', valve, open)
    await quick.plane.reconciler.idle()
    const note = `${valve}/providers/Vendor.Sample/notes/n`
    await quick.call('PUT', note, { properties: { title: 'x' } })
    held.open()
    await turns()
    assert.equal((await quick.call('GET', note)).status, 200)
    assert.equal(await stateOf(quick, valve), 'Succeeded')
  })
})

describe('deletes', () => {
  test('that arrive during work are seen at the next look', async () => {
    const engine = new WatchedEngine()
    using held = barrier()
    engine.gate = (step) => (step === 'make a' ? held.arrive() : Promise.resolve())
    await using t = await startPlane({ engine })
    const made = await t.call('PUT', widget, parts('a', 'b'))
    await held.reached
    const deleted = await t.call('DELETE', widget)
    held.open()
    await t.plane.reconciler.idle()
    assert.deepEqual(
      engine.journal.map((line) => line.replace(/ \w{26}/, '')),
      ['make a', 'unmake a'],
    )
    assert.equal(await endOf(t, made), 'Canceled OperationPreempted')
    assert.equal(await endOf(t, deleted), 'Succeeded')
  })

  test('that arrive after the last look are not taken for done', async () => {
    let real = false
    using held = barrier()
    const script: ValveScript = {
      async observe({ desired }) {
        const seen = real
        if (seen && desired !== undefined) await held.arrive()
        return seen
      },
      next: ({ desired }, seen) =>
        seen === (desired?.open ?? false) ? { kind: 'done' } : { kind: 'step', step: 'turn' },
      async perform({ desired }) {
        real = desired?.open ?? false
      },
    }
    await using t = await startPlane({ providers: [scriptedProvider(script)] })
    await t.call('PUT', valve, open)
    await held.reached
    const deleted = await t.call('DELETE', valve)
    held.open()
    await t.plane.reconciler.idle()
    assert.equal(real, false, 'it is gone, and still open')
    assert.equal(await endOf(t, deleted), 'Succeeded')
  })

  test('of a parent leave nothing below it, however much there was', async () => {
    await using t = await startPlane()
    await t.call('PUT', widget, parts('a'))
    await t.plane.reconciler.idle()
    const notes = Array.from(
      { length: 450 },
      (_, at) => `${widget}/providers/Vendor.Sample/notes/n${at}`,
    )
    await Promise.all(
      notes.map((path, at) => t.call('PUT', path, { properties: { title: `${at}` } })),
    )
    await t.call('DELETE', widget)
    await rest(t)
    assert.equal(await t.store.count({ under: widget.toLowerCase(), limit: 1000 }), 0)
  })

  test('of a plain parent leave nothing below it either, and are refused before anything went', async () => {
    await using t = await startPlane()
    const board = '/providers/Vendor.Sample/boards/b'
    await t.call('PUT', board, { properties: { title: 'x' } })
    const below = (): Promise<number> => t.store.count({ under: board.toLowerCase(), limit: 1000 })
    await Promise.all(
      Array.from({ length: 450 }, (_, at) =>
        t.call('PUT', `${board}/providers/Vendor.Sample/notes/n${at}`, {
          properties: { title: `${at}` },
        }),
      ),
    )
    await assert.rejects(t.call('DELETE', board, undefined, { ifMatch: '"stale"' }), ApiError)
    assert.equal(await below(), 451)
    await t.call('DELETE', board)
    assert.equal(await below(), 0)
  })

  test('of a parent cancel what was being made below it', async () => {
    const engine = new WatchedEngine()
    await using t = await startPlane({ engine })
    await t.call('PUT', widget, parts('a'))
    await t.plane.reconciler.idle()
    using held = barrier()
    engine.gate = (step) => (step === 'make z' ? held.arrive() : Promise.resolve())
    const gadget = `${widget}/gadgets/g`
    const made = await t.call('PUT', gadget, parts('z'))
    await held.reached
    const deleted = await t.call('DELETE', widget)
    // The parent is emptied when its own engine is done, while the step below it still runs.
    for (let count = 0; count < 100 && (await endOf(t, made)) === 'Running'; count++) await turns()
    held.open()
    await rest(t)
    assert.equal(await endOf(t, made), 'Canceled OperationPreempted')
    assert.equal(await endOf(t, deleted), 'Succeeded')
    assert.equal(engine.parts.size, 0)
  })

  test('under way let nothing new be made below', async () => {
    const engine = new WatchedEngine()
    await using t = await startPlane({ engine })
    await t.call('PUT', widget, parts('a'))
    await t.plane.reconciler.idle()
    using held = barrier()
    engine.gate = () => held.arrive()
    await t.call('DELETE', widget)
    await held.reached
    await assert.rejects(
      t.call('PUT', `${widget}/labels/l`, { properties: { title: 'x' } }),
      ApiError,
    )
    held.open()
    await rest(t)
    assert.equal(await t.store.count({ under: widget.toLowerCase(), limit: 10 }), 0)
  })
})

describe('deadlines', () => {
  const never: readonly [what: string, script: ValveScript, end: string][] = [
    [
      'what waits',
      { observe: async () => 0, next: () => ({ kind: 'wait', seconds: 5 }) },
      'Failed OperationTimedOut',
    ],
    [
      'what waits for very long',
      { observe: async () => 0, next: () => ({ kind: 'wait', seconds: 3600 }) },
      'Failed OperationTimedOut',
    ],
    [
      'what fails again and again',
      {
        observe: () => Promise.reject(new StepFailure('later', 'EngineAway', 'gone')),
        next: () => ({ kind: 'done' }),
      },
      'Failed EngineAway',
    ],
    [
      'a fault of ours',
      {
        observe: () => Promise.reject(new TypeError('x is undefined')),
        next: () => ({ kind: 'done' }),
      },
      'Failed InternalServerError',
    ],
  ]
  for (const [what, script, end] of never) {
    test(`end ${what}, not much later`, async () => {
      await using t = await startPlane({ providers: [scriptedProvider(script)] })
      const made = await t.call('PUT', valve, open)
      for (let seconds = 0; seconds <= valveDeadlineSeconds; seconds += 10) {
        assert.equal(await endOf(t, made), 'Running', `after ${seconds} seconds`)
        await pass(t, 10)
      }
      await pass(t, 10)
      assert.equal(await endOf(t, made), end)
      assert.equal(await stateOf(t, valve), 'Failed')
      // And waits: nothing is due for a failed resource.
      assert.equal(await t.store.nextDue(), undefined)
    })
  }
})

test('a deadline ends what takes steps that lead nowhere', async () => {
  const clock = testClock()
  const script: ValveScript = {
    observe: async () => 0,
    next: () => ({ kind: 'step', step: 'again' }),
    perform: async () => clock.advance(7),
  }
  await using t = await startPlane({ clock, providers: [scriptedProvider(script)] })
  const made = await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  assert.equal(await endOf(t, made), 'Failed OperationTimedOut')
})

describe('events', () => {
  interface Tap {
    real: boolean
    wake: (key: string) => void
    observing: () => Promise<void>
  }

  function tapped(): { readonly tap: Tap; readonly script: ValveScript } {
    const tap: Tap = { real: false, wake: () => undefined, observing: async () => undefined }
    return {
      tap,
      script: {
        async observe() {
          const { real } = tap
          await tap.observing()
          return real
        },
        next: (subject, observed): Next<string, unknown> =>
          subject.desired === undefined || subject.desired.open === observed
            ? { kind: 'done' }
            : { kind: 'step', step: 'turn' },
        async perform(subject) {
          tap.real = subject.desired?.open === true
        },
        watchEvents: (wake) => {
          tap.wake = wake
        },
      },
    }
  }

  test('make the reconciler look, and drift is mended', async () => {
    const { tap, script } = tapped()
    await using t = await startPlane({ providers: [scriptedProvider(script)] })
    await t.call('PUT', valve, open)
    await t.plane.reconciler.idle()
    tap.real = false
    tap.wake(valve.toLowerCase())
    await turns()
    await t.plane.reconciler.idle()
    assert.equal(tap.real, true)
  })

  test('that come between the look and the end of the work are not lost', async () => {
    const { tap, script } = tapped()
    await using t = await startPlane({ providers: [scriptedProvider(script)] })
    await t.call('PUT', valve, open)
    await t.plane.reconciler.idle()
    using held = barrier()
    tap.observing = () => held.arrive()
    tap.wake(valve.toLowerCase())
    await held.reached
    // The running observation has seen it open.
    tap.real = false
    tap.observing = async () => undefined
    tap.wake(valve.toLowerCase())
    await turns()
    held.open()
    await turns()
    await t.plane.reconciler.idle()
    assert.equal(tap.real, true)
  })

  test('about nothing make nothing due', async () => {
    const { tap, script } = tapped()
    await using t = await startPlane({ providers: [scriptedProvider(script)] })
    tap.wake(valve.toLowerCase())
    await turns()
    assert.equal(await t.store.nextDue(), undefined)
  })
})

describe('rest', () => {
  test('idle() does not answer while claims are on their way', async () => {
    await using inner = await memoryStore()
    const { claimDue } = inner
    using held = barrier()
    // As over a network: the claim is made, and its answer takes a while.
    inner.claimDue = async (...asked) => {
      const claims = await claimDue.call(inner, ...asked)
      if (claims.length > 0) await held.arrive()
      return claims
    }
    await using t = await startPlane({ store: inner })
    await t.call('PUT', widget, parts('a'))
    await held.reached
    let isIdle = false
    const idle = t.plane.reconciler.idle().then(() => {
      isIdle = true
    })
    await turns()
    assert.equal(isIdle, false)
    held.open()
    await idle
    assert.equal(await stateOf(t, widget), 'Succeeded')
  })

  test('a plane that is let go of leaves no claim behind', async () => {
    await using inner = await memoryStore()
    const { claimDue } = inner
    using held = barrier()
    inner.claimDue = async (...asked) => {
      const claims = await claimDue.call(inner, ...asked)
      if (claims.length > 0) await held.arrive()
      return claims
    }
    const t = await startPlane({ store: inner })
    await t.call('PUT', widget, parts('a'))
    await held.reached
    const disposed = t[Symbol.asyncDispose]()
    held.open()
    await disposed
    inner.claimDue = claimDue.bind(inner)
    const [claim] = await inner.claimDue('another', t.clock.now(), leaseSeconds, 10)
    assert.ok(
      claim !== undefined || (await inner.nextDue()) === undefined,
      'the claim is left behind',
    )
  })
})

/** Some turns of the event loop, for work that was not awaited. */
async function turns(): Promise<void> {
  for (let count = 0; count < 5; count++) await turn()
}

async function pass(t: TestPlane, seconds: number): Promise<void> {
  t.clock.advance(seconds)
  t.plane.reconciler.wake()
  await turns()
  await t.plane.reconciler.idle()
}

/** Lets work that waits for another second finish. */
async function rest(t: TestPlane): Promise<void> {
  for (let count = 0; count < 6; count++) {
    await t.plane.reconciler.idle()
    await pass(t, 3)
  }
}
