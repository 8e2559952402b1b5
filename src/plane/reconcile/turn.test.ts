/** One turn of work: what is recorded, how an operation ends, and what is left to the next turn. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { StoreConflict, StoreUnavailable } from '#stores/store.ts'
import { type Next, StepFailure } from '../declare/reconciled.ts'
import {
  scriptedProvider,
  type ValveScript,
  valveDeadlineSeconds,
} from '../testing/scripted-provider.ts'
import { group, startPlane, type TestPlane } from '../testing/start.ts'

const valve = `${group}/providers/Vendor.Scripted/valves/v`
const open = { properties: { open: true } }

async function stored(
  t: TestPlane,
): Promise<{ readonly state: string; readonly observed?: unknown } | undefined> {
  const row = await t.store.get(valve.toLowerCase())
  return row === undefined ? undefined : JSON.parse(row.document)
}

async function startScripted(script: ValveScript): Promise<TestPlane> {
  return startPlane({ providers: [scriptedProvider(script)] })
}

async function operationText(t: TestPlane, path: string | undefined): Promise<string> {
  return JSON.stringify((await t.call('GET', path ?? '')).body)
}

describe('what a turn saw is written down', () => {
  const cases: readonly (readonly [
    what: string,
    next: Next<string, unknown>,
    expected: { readonly state: string; readonly observed: unknown },
  ])[] = [
    [
      'before a step',
      { kind: 'step', step: 'turn', state: 'Turning' },
      { state: 'Turning', observed: 'looked' },
    ],
    [
      'with a wait',
      { kind: 'wait', seconds: 30, state: 'Waiting' },
      { state: 'Waiting', observed: 'looked' },
    ],
    [
      'as the wait says',
      { kind: 'wait', seconds: 30, observed: 'better' },
      { state: 'Creating', observed: 'better' },
    ],
    ['at the end', { kind: 'done' }, { state: 'Succeeded', observed: 'looked' }],
    [
      'as the end says',
      { kind: 'done', observed: 'last' },
      { state: 'Succeeded', observed: 'last' },
    ],
    [
      'as a failure says',
      { kind: 'fail', code: 'Stuck', message: 'it is stuck', observed: 'broken' },
      { state: 'Failed', observed: 'broken' },
    ],
    [
      'as a cancellation says',
      { kind: 'fail', code: 'Stopped', message: 'called off', status: 'Canceled' },
      { state: 'Canceled', observed: 'looked' },
    ],
  ]
  for (const [what, next, expected] of cases) {
    test(what, async () => {
      let seen: unknown
      let looks = 0
      await using t = await startScripted({
        observe: async () => 'looked',
        next: () => (looks++ === 0 ? next : { kind: 'wait', seconds: 30 }),
        perform: async () => {
          seen = await stored(t)
        },
      })
      await t.call('PUT', valve, open)
      await t.plane.reconciler.idle()
      const { state, observed } = (next.kind === 'step' ? seen : await stored(t)) as typeof expected
      assert.deepEqual({ state, observed }, expected)
    })
  }

  test('once: the same seen again changes no tag, anything new does', async () => {
    let seen = 'a'
    await using t = await startScripted({
      resyncSeconds: 10,
      observe: async () => seen,
      next: () => ({ kind: 'done' }),
    })
    await t.call('PUT', valve, open)
    await t.plane.reconciler.idle()
    const tag = async () => (await t.call('GET', valve)).etag
    const before = await tag()
    const pass = async (): Promise<void> => {
      t.clock.advance(11)
      t.plane.reconciler.wake()
      await t.plane.reconciler.idle()
    }
    await pass()
    assert.equal(await tag(), before)
    seen = 'b'
    await pass()
    assert.equal((await stored(t))?.observed, 'b', 'it is looked at again for good')
    assert.notEqual(await tag(), before)
  })
})

test('an event during a look asks for one more look, not for more', async () => {
  let wake: (key: string) => void = () => undefined
  let looks = 0
  await using t = await startScripted({
    async observe() {
      if (++looks === 1) wake(valve.toLowerCase())
    },
    next: () => ({ kind: 'wait', seconds: 30 }),
    watchEvents: (heard) => {
      wake = heard
    },
  })
  await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  // One for the PUT, one for what came meanwhile. The event made it due at most once more.
  assert.ok(looks === 2 || looks === 3, `${looks} looks`)
})

test('what is due and has no reconciler is due no more', async () => {
  await using t = await startPlane()
  const board = '/providers/Vendor.Sample/boards/b'
  await t.call('PUT', board, { properties: { title: 'x' } })
  await t.store.transact((tx) => tx.schedule(board.toLowerCase(), t.clock.now()))
  t.plane.reconciler.wake()
  await t.plane.reconciler.idle()
  assert.equal(await t.store.nextDue(), undefined)
})

describe('past its deadline', () => {
  for (const error of [
    new StoreConflict('another has it'),
    new StoreUnavailable('away', 'later'),
  ] as const) {
    test(`a ${error.name} ends no operation`, async () => {
      let isBroken = true
      let isLate = false
      await using t = await startScripted({
        async observe() {
          if (!isBroken) return
          // Once: a look that always outlasts its lease would be claimed again and again.
          if (!isLate) t.clock.advance(valveDeadlineSeconds + 1)
          isLate = true
          throw error
        },
        next: () => ({ kind: 'done' }),
      })
      const made = await t.call('PUT', valve, open)
      await t.plane.reconciler.idle()
      assert.match(await operationText(t, made.operation?.statusPath), /"status":"Running"/)
      isBroken = false
      t.clock.advance(60)
      t.plane.reconciler.wake()
      await t.plane.reconciler.idle()
      assert.match(await operationText(t, made.operation?.statusPath), /"status":"Succeeded"/)
    })
  }

  test('a fault of ours tells nothing of itself', async () => {
    await using t = await startScripted({
      async observe() {
        t.clock.advance(valveDeadlineSeconds + 1)
        throw new TypeError('x is undefined')
      },
      next: () => ({ kind: 'done' }),
    })
    const made = await t.call('PUT', valve, open)
    await t.plane.reconciler.idle()
    const text = await operationText(t, made.operation?.statusPath)
    assert.match(text, /InternalServerError/)
    assert.doesNotMatch(text, /undefined/)
  })
})

test('an operation that fails says why, with its details', async () => {
  const details = [{ code: 'TooTight', message: 'it is too tight' }]
  await using t = await startScripted({
    observe: async () => 0,
    next: () => ({ kind: 'fail', code: 'Stuck', message: 'it is stuck', details }),
  })
  const made = await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  const text = await operationText(t, made.operation?.statusPath)
  for (const part of ['"status":"Failed"', 'Stuck', 'it is stuck', 'TooTight']) {
    assert.ok(text.includes(part), `${part} in ${text}`)
  }
  assert.notEqual((await t.call('GET', valve)).etag, made.etag, 'its state is another one')
})

describe('a step that fails', () => {
  test('for good ends the operation at once', async () => {
    await using t = await startScripted({
      observe: () => Promise.reject(new StepFailure('never', 'NoSuchThing', 'there is none')),
      next: () => ({ kind: 'done' }),
    })
    const made = await t.call('PUT', valve, open)
    await t.plane.reconciler.idle()
    assert.match(await operationText(t, made.operation?.statusPath), /NoSuchThing/)
  })

  test('leaves what has succeeded as it is, and is tried again later and later', async () => {
    let failures = 0
    let isAway = false
    await using t = await startScripted({
      resyncSeconds: 10,
      async observe() {
        if (!isAway) return 'fine'
        failures++
        throw new StepFailure('never', 'EngineAway', 'gone')
      },
      next: () => ({ kind: 'done' }),
    })
    await t.call('PUT', valve, open)
    await t.plane.reconciler.idle()
    isAway = true
    const waits: number[] = []
    for (let count = 0; count < 4; count++) {
      t.clock.advance(count === 0 ? 11 : (waits.at(-1) ?? 0) / 1000)
      t.plane.reconciler.wake()
      await t.plane.reconciler.idle()
      waits.push(((await t.store.nextDue()) ?? 0) - t.clock.now())
    }
    assert.equal(failures, 4)
    assert.equal((await stored(t))?.state, 'Succeeded')
    assert.ok((waits[0] ?? 0) > 0, `${waits}`)
    assert.ok((waits[3] ?? 0) > (waits[0] ?? 0), `${waits}`)
  })
})

test('a resource that failed is looked at again where its type says so, and mends itself', async () => {
  let isStuck = true
  await using t = await startScripted({
    resyncSeconds: 10,
    observe: async () => isStuck,
    next: (_, stuck) =>
      stuck === true ? { kind: 'fail', code: 'Stuck', message: 'stuck' } : { kind: 'done' },
  })
  await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  assert.equal((await stored(t))?.state, 'Failed')
  assert.equal(await t.store.nextDue(), t.clock.now() + 10_000)
  isStuck = false
  t.clock.advance(11)
  t.plane.reconciler.wake()
  await t.plane.reconciler.idle()
  assert.equal((await stored(t))?.state, 'Succeeded')
})

test('a DELETE that fails is taken back: the resource stays, and a later PUT retries', async () => {
  await using t = await startScripted({
    observe: async () => 0,
    next: ({ desired }) =>
      desired === undefined
        ? { kind: 'fail', code: 'Stuck', message: 'it does not go' }
        : { kind: 'done' },
  })
  await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  const deleted = await t.call('DELETE', valve)
  await t.plane.reconciler.idle()
  assert.match(await operationText(t, deleted.operation?.statusPath), /"status":"Failed"/)
  assert.equal((await stored(t))?.state, 'Failed')
  await t.call('PUT', valve, { properties: { open: false } })
  await t.plane.reconciler.idle()
  assert.equal((await stored(t))?.state, 'Succeeded')
})

test('whoever waits for work to settle learns of its end, good or bad', async () => {
  let isBad = false
  await using t = await startScripted({
    observe: async () => 0,
    next: () => (isBad ? { kind: 'fail', code: 'Stuck', message: 'stuck' } : { kind: 'done' }),
  })
  const settled: string[] = []
  const until = new AbortController()
  t.plane.services.onSettled((key) => settled.push(key), until.signal)
  await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  assert.deepEqual(settled, [valve.toLowerCase()])
  isBad = true
  await t.call('PUT', valve, { properties: { open: false } })
  await t.plane.reconciler.idle()
  assert.equal(settled.length, 2)
  until.abort()
})
