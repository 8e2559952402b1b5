/**
 * A lease is renewed while its work goes on, is given up if that is refused, and limits how much one claim does.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Timers } from '#kernel/ports.ts'
import type { Store, Tx } from '#stores/store.ts'
import { until } from '../../../tests/until.ts'
import { mortalStore } from '../testing/mortal-store.ts'
import { scriptedProvider } from '../testing/scripted-provider.ts'
import { group, memoryStore, owner, startPlane } from '../testing/start.ts'

const valve = `${group}/providers/Vendor.Scripted/valves/v`
const open = { properties: { open: true } }
/** A third of the lease. */
const renewMilliseconds = 10_000

async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await turn()
}

/** Timers that the test fires, only for renewals. */
function renewals(): { readonly timers: Timers; readonly waiting: Set<() => void>; fire(): void } {
  const waiting = new Set<() => void>()
  return {
    waiting,
    fire() {
      for (const callback of [...waiting]) {
        waiting.delete(callback)
        callback()
      }
    },
    timers: {
      after(milliseconds, callback) {
        if (milliseconds === renewMilliseconds) waiting.add(callback)
        return { cancel: () => waiting.delete(callback) }
      },
    },
  }
}

/** Counts the claims. */
function counted(inner: Store, renew?: Store['renew']): Store & { claims: number } {
  const { store } = mortalStore(inner)
  const { claimDue } = store
  const counting = {
    ...store,
    ...(renew === undefined ? {} : { renew }),
    claims: 0,
    async claimDue(...given: Parameters<Store['claimDue']>) {
      const made = await claimDue(...given)
      counting.claims += made.length
      return made
    },
  }
  return counting
}

const answers: readonly (readonly [
  what: string,
  renew: Store['renew'] | undefined,
  claimOfEachStep: readonly number[],
])[] = [
  ['renewed, it goes on', undefined, [1, 1]],
  ['refused, the rest waits for another claim', async () => false, [1, 2]],
  ['not answered, it is asked again', () => Promise.reject(new Error('no answer')), [1, 2]],
]
for (const [what, renew, expected] of answers) {
  test(`a lease runs out while a step is under way: ${what}`, async () => {
    await using inner = await memoryStore()
    const store = counted(inner, renew)
    const { timers, waiting, fire } = renewals()
    const reached = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const steps: number[] = []
    await using t = await startPlane({
      store,
      timers,
      providers: [
        scriptedProvider({
          observe: async () => steps.length,
          next: () => (steps.length < 2 ? { kind: 'step', step: 'turn' } : { kind: 'done' }),
          async perform() {
            steps.push(store.claims)
            reached.resolve()
            await go.promise
          },
        }),
      ],
    })
    try {
      await t.call('PUT', valve, open)
      await reached.promise
      for (let count = 0; count < 2; count++) {
        t.clock.advance(20)
        fire()
        await turns()
        await until(() => waiting.size === (what.startsWith('refused') ? 0 : 1))
      }
    } finally {
      go.resolve()
    }
    // What has ended is renewed no more.
    await until(() => steps.length === 2 && waiting.size === 0)
    assert.deepEqual(steps, expected)
  })
}

test('a refused renewal ends the lease, although its time is not over', async () => {
  await using inner = await memoryStore()
  const store = counted(inner, async () => false)
  const { timers, fire } = renewals()
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const steps: number[] = []
  await using t = await startPlane({
    store,
    timers,
    providers: [
      scriptedProvider({
        // It has nothing to observe, so no write notices the lost claim.
        observe: async () => null,
        next: () => (steps.length < 2 ? { kind: 'step', step: 'turn' } : { kind: 'done' }),
        async perform() {
          steps.push(store.claims)
          reached.resolve()
          await go.promise
        },
      }),
    ],
  })
  try {
    await t.call('PUT', valve, open)
    await reached.promise
    fire()
    await turns()
  } finally {
    go.resolve()
  }
  await until(() => steps.length === 2)
  assert.deepEqual(steps, [1, 2])
})

test('a renewal that is answered after the end of its work is the last one', async () => {
  await using inner = await memoryStore()
  const answer = Promise.withResolvers<boolean>()
  const { timers, waiting, fire } = renewals()
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  let performed = 0
  await using t = await startPlane({
    store: counted(inner, () => answer.promise),
    timers,
    providers: [
      scriptedProvider({
        observe: async () => performed,
        next: () => (performed < 1 ? { kind: 'step', step: 'turn' } : { kind: 'done' }),
        async perform() {
          performed++
          reached.resolve()
          await go.promise
        },
      }),
    ],
  })
  await t.call('PUT', valve, open)
  await reached.promise
  fire()
  go.resolve()
  await until(() => t.plane.reconciler.counts().running === 0)
  answer.reject(new Error('the store does not answer'))
  await turns()
  assert.equal(waiting.size, 0)
})

test('what work writes as a caller does is not kept once its lease is over', async () => {
  await using store = await memoryStore()
  const title = { properties: { title: 'late' } }
  const outcomes: string[] = []
  const put = async (path: string): Promise<void> => {
    const written = t.call('PUT', path, title).then(({ status }) => status)
    outcomes.push(String(await written.catch((error: unknown) => error)))
  }
  await using t = await startPlane({
    store,
    providers: [
      scriptedProvider({
        observe: async () => null,
        next: () => (outcomes.length < 2 ? { kind: 'step', step: 'turn' } : { kind: 'done' }),
        async perform() {
          await put(`${group}/providers/Vendor.Sample/notes/a`)
          // As after a process has stood still.
          t.clock.advance(31)
          await put(`${group}/providers/Vendor.Sample/notes/b`)
        },
      }),
    ],
  })
  await t.call('PUT', valve, open)
  await until(() => outcomes.length === 2)
  assert.deepEqual(outcomes, ['201', 'StoreConflict: the work went to another process'])
  await assert.rejects(t.call('GET', `${group}/providers/Vendor.Sample/notes/b`), { status: 404 })
})

test('one claim does fifty steps and is given back; the rest is done under another', async () => {
  await using inner = await memoryStore()
  const store = counted(inner)
  let performed = 0
  await using t = await startPlane({
    store,
    providers: [
      scriptedProvider({
        observe: async () => 0,
        next: () => (performed < 60 ? { kind: 'step', step: 'turn' } : { kind: 'done' }),
        perform: async () => {
          performed++
        },
      }),
    ],
  })
  await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  assert.equal(performed, 60)
  assert.equal(store.claims, 2)
})

test('the end of an operation is recorded, with its verb, its outcome and its code', async () => {
  await using inner = await memoryStore()
  const recorded: Parameters<Tx['record']>[0][] = []
  const { transact } = inner
  inner.transact = (work) =>
    transact.call(inner, (tx) => {
      const record = tx.record.bind(tx)
      tx.record = (event) => {
        recorded.push(event)
        return record(event)
      }
      return work(tx)
    }) as ReturnType<typeof inner.transact<never>>
  let isStuck = true
  await using t = await startPlane({
    store: inner,
    providers: [
      scriptedProvider({
        observe: async () => 0,
        next: () =>
          isStuck ? { kind: 'fail', code: 'Stuck', message: 'it is stuck' } : { kind: 'done' },
      }),
    ],
  })
  await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  const failed = JSON.stringify(recorded.at(-1))
  assert.match(failed, /valves\/write/)
  assert.match(failed, /Failed/)
  assert.match(failed, /Stuck/)
  assert.ok(failed.includes(owner.id), 'of whoever asked for the work')
  isStuck = false
  await t.call('DELETE', valve)
  await t.plane.reconciler.idle()
  const gone = JSON.stringify(recorded.at(-1))
  assert.match(gone, /valves\/delete/)
  assert.match(gone, /Succeeded/)
})
