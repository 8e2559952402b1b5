/**
 * Guards of background work: how long it waits, that waiting is no change, and what the audit trail records at its
 * end.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { LostClaim } from '#stores/tries.ts'
import { type Next, StepFailure } from '../declare/reconciled.ts'
import { scriptedProvider, type ValveScript } from '../testing/scripted-provider.ts'
import { group, startPlane, type TestPlane } from '../testing/start.ts'
import { WatchedEngine } from '../testing/watched-engine.ts'

const valve = `${group}/providers/Vendor.Scripted/valves/v`
const widget = `${group}/providers/Vendor.Sample/widgets/w`
const open = { properties: { open: true } }
const done: Next<string, unknown> = { kind: 'done' }

/** Seconds until the next turn, again and again. */
async function rests(t: TestPlane, times: number): Promise<readonly number[]> {
  const seconds: number[] = []
  for (let count = 0; count < times; count++) {
    await t.plane.reconciler.idle()
    const due = (await t.store.nextDue()) ?? Number.NaN
    seconds.push((due - t.clock.now()) / 1000)
    t.clock.advance((due - t.clock.now()) / 1000)
    t.plane.reconciler.wake()
    await turn()
  }
  return seconds
}

async function events(t: TestPlane, key: string): Promise<readonly (readonly unknown[])[]> {
  const rows = await t.store.sql.all(
    'select action, status, operation_id, detail from events where key = ? order by number',
    key.toLowerCase(),
  )
  return rows.map((row) => [
    String(row['action']).split('/').slice(1).join('/'),
    row['status'],
    row['operation_id'] === null ? 'none' : 'operation',
    // Written only by the audit trail.
    (JSON.parse(String(row['detail'])) as { readonly code?: string }).code,
  ])
}

for (const [what, failure] of [
  ['a step that fails for now', new StepFailure('later', 'Busy', 'not now')],
  ['a fault of ours', new Error('a fault')],
] as const) {
  test(`${what} is tried again after rests that double, up to their bound`, async () => {
    let isBroken = false
    const script: ValveScript = {
      observe: () => (isBroken ? Promise.reject(failure) : Promise.resolve(null)),
      next: () => done,
      resyncSeconds: 100,
    }
    await using t = await startPlane({
      limits: { backoffSecondsMax: 5 },
      providers: [scriptedProvider(script)],
    })
    await t.call('PUT', valve, open)
    assert.deepEqual(await rests(t, 1), [100])
    await t.plane.reconciler.idle()
    isBroken = true
    assert.deepEqual(await rests(t, 6), [100, 1, 2, 4, 5, 5])
  })
}

test('work that loses its claim makes forgotten what is remembered of its resource alone', async () => {
  const forgotten: (string | undefined)[] = []
  let isLost = false
  const script: ValveScript = {
    observe: async ({ id }) => {
      if (isLost && id.text === valve) throw new LostClaim('lost')
    },
    next: () => done,
    forget: (key) => void forgotten.push(key),
  }
  await using t = await startPlane({ providers: [scriptedProvider(script)] })
  await t.call('PUT', `${valve}2`, open)
  isLost = true
  await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  assert.deepEqual(forgotten, [valve.toLowerCase()])
})

test('a rest ends right after the deadline of the operation, however long it was meant to be', async () => {
  const script: ValveScript = {
    observe: async () => null,
    next: () => ({ kind: 'wait', seconds: 3600 }),
  }
  await using t = await startPlane({ providers: [scriptedProvider(script)] })
  await t.call('PUT', valve, open)
  assert.deepEqual(await rests(t, 1), [60.001])
})

test('a step that fails for now is not tried past the deadline, and what failed is looked at again', async () => {
  const script: ValveScript = {
    observe: () => Promise.reject(new StepFailure('later', 'Busy', 'not now')),
    next: () => done,
    resyncSeconds: 100,
  }
  await using t = await startPlane({
    limits: { backoffSecondsMax: 1000 },
    providers: [scriptedProvider(script)],
  })
  await t.call('PUT', valve, open)
  // The deadline is a minute after the PUT. Then the operation has failed.
  const seconds = await rests(t, 7)
  assert.deepEqual(seconds.map(Math.round), [1, 2, 4, 8, 16, 29, 100])
})

test('a look that sees nothing new changes nothing', async () => {
  let looks = 0
  let next: Next<string, unknown> = { kind: 'wait', seconds: 5 }
  const script: ValveScript = {
    async observe() {
      looks++
      return 'the same'
    },
    next: () => next,
    resyncSeconds: 10,
  }
  await using t = await startPlane({ providers: [scriptedProvider(script)] })
  await t.call('PUT', valve, open)
  await rests(t, 1)
  const waiting = await t.store.get(valve.toLowerCase())
  await rests(t, 2)
  assert.equal((await t.store.get(valve.toLowerCase()))?.etag, waiting?.etag)
  next = done
  await rests(t, 2)
  const settled = await t.store.get(valve.toLowerCase())
  await rests(t, 2)
  assert.equal((await t.store.get(valve.toLowerCase()))?.etag, settled?.etag)
  assert.ok(looks > 5)
})

test('a scope of many resources is emptied at once, without rests between the chunks', async () => {
  await using t = await startPlane()
  await t.call('PUT', widget, { location: 'here', properties: { parts: ['a'] } })
  await t.plane.reconciler.idle()
  for (let count = 0; count < 450; count++) {
    const note = `${widget}/providers/Vendor.Sample/notes/n${count}`
    await t.call('PUT', note, { properties: { title: 'x' } })
  }
  await t.call('DELETE', widget)
  await t.plane.reconciler.idle()
  assert.equal(await t.store.count({ under: widget.toLowerCase(), limit: 1000 }), 0)
})

test('a parent whose child is still being removed rests, instead of looking without end', async () => {
  const engine = new WatchedEngine()
  await using t = await startPlane({ engine })
  await t.call('PUT', widget, { location: 'here', properties: { parts: ['a'] } })
  await t.call('PUT', `${widget}/gadgets/g`, { location: 'here', properties: { parts: ['z'] } })
  await t.plane.reconciler.idle()
  const release = Promise.withResolvers<void>()
  engine.gate = (step) => (step === 'unmake z' ? release.promise : Promise.resolve())
  await t.call('DELETE', widget)
  let transactions = 0
  const transact = t.store.transact.bind(t.store)
  t.store.transact = (work) => {
    transactions++
    return transact(work)
  }
  for (let turns = 0; turns < 200; turns++) await turn()
  assert.ok(transactions < 20, `there were ${transactions} transactions`)
  release.resolve()
  await t.plane.reconciler.idle()
  const ends = (await events(t, `${widget}/gadgets/g`)).filter(
    ([, status]) => status !== 'Accepted',
  )
  assert.deepEqual(ends.at(-1), ['widgets/gadgets/delete', 'Succeeded', 'none', undefined])
})

test('the end of work is recorded by its verb, with its operation and the code of its failure', async () => {
  let next: Next<string, unknown> = done
  const script: ValveScript = { observe: async () => null, next: () => next }
  await using t = await startPlane({ providers: [scriptedProvider(script)] })
  await t.call('PUT', valve, open)
  await t.plane.reconciler.idle()
  next = { kind: 'fail', code: 'Broken', message: 'it is broken' }
  await t.call('PUT', valve, { properties: { open: false } })
  await t.plane.reconciler.idle()
  next = done
  await t.call('DELETE', valve)
  await t.plane.reconciler.idle()
  const ends = (await events(t, valve)).filter(([, status]) => status !== 'Accepted')
  assert.deepEqual(ends, [
    ['valves/write', 'Succeeded', 'operation', undefined],
    ['valves/write', 'Failed', 'operation', 'Broken'],
    ['valves/delete', 'Succeeded', 'operation', undefined],
  ])
})
