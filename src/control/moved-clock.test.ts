/** The movable clock, over a machine clock that the test controls. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDuration } from './duration.ts'
import { createMovedClock } from './moved-clock.ts'

/** A machine clock that only `pass` moves. */
function machineOf() {
  let now = 1_800_000_000_000
  const waits = new Set<{ readonly at: number; readonly callback: () => unknown }>()
  return {
    clock: { now: () => now },
    waits,
    timers: {
      after(milliseconds: number, callback: () => unknown) {
        const one = { at: now + milliseconds, callback }
        waits.add(one)
        return { cancel: () => waits.delete(one) }
      },
    },
    pass(milliseconds: number) {
      now += milliseconds
      for (const one of [...waits]) {
        if (one.at > now || !waits.delete(one)) continue
        one.callback()
      }
    },
  }
}

test('time passes as on the machine until it is set', () => {
  const machine = machineOf()
  const clock = createMovedClock(machine)
  const began = clock.now()
  machine.pass(500)
  assert.equal(clock.now() - began, 500)
  clock.setRate(60)
  machine.pass(1000)
  assert.equal(clock.now() - began, 60_500)
  clock.setRate(0)
  machine.pass(1000)
  assert.equal(clock.now() - began, 60_500)
})

test('a clock whose waits are all cancelled leaves no timer of the machine', () => {
  const machine = machineOf()
  const clock = createMovedClock(machine)
  const waits = [1_000, 60_000].map((wait) => clock.timers.after(wait, () => undefined))
  assert.equal(machine.waits.size, 1)
  for (const wait of waits) wait.cancel()
  assert.equal(machine.waits.size, 0)
})

test('a wait ends by the moved time, at its moment and in order, and may begin the next one', async () => {
  const machine = machineOf()
  const clock = createMovedClock(machine)
  clock.setRate(0)
  const began = clock.now()
  const seen: [string, number][] = []
  const every = (): void => {
    seen.push(['every', clock.now() - began])
    clock.timers.after(3_600_000, every)
  }
  clock.timers.after(3_600_000, every)
  const once = clock.timers.after(5_400_000, () => seen.push(['once', clock.now() - began]))
  const never = clock.timers.after(5_400_000, () => seen.push(['never', 0]))
  never.cancel()
  await clock.advance(7_200_000)
  assert.deepEqual(seen, [
    ['every', 3_600_000],
    ['once', 5_400_000],
    ['every', 7_200_000],
  ])
  once.cancel()
  assert.equal(clock.now() - began, 7_200_000)
})

test('a move waits for what it began, and moves follow one another', async () => {
  const clock = createMovedClock(machineOf())
  clock.setRate(0)
  const began = clock.now()
  const { promise, resolve } = Promise.withResolvers<void>()
  let ended = false
  clock.timers.after(60_000, () => promise)
  const first = clock.advance(120_000).then(() => {
    ended = true
  })
  const second = clock.advance(1000)
  await new Promise((turn) => setImmediate(turn))
  assert.equal(ended, false)
  resolve()
  await first
  await second
  assert.equal(clock.now() - began, 121_000)
})

test('what runs between moves is beside none, and the clock that it sets stays', async () => {
  const machine = machineOf()
  const clock = createMovedClock(machine)
  clock.setRate(0)
  let go = (): void => undefined
  clock.timers.after(1000, () => new Promise<void>((resolve) => (go = resolve)))
  const advanced = clock.advance(3_600_000)
  const seen: number[] = []
  const restored = clock.betweenMoves(async () => {
    seen.push(clock.now())
    clock.restore({ at: 1000, rate: 0 })
  })
  const again = clock.advance(60_000)
  for (let turns = 0; turns < 100; turns++) await Promise.resolve()
  assert.deepEqual(seen, [])
  go()
  await Promise.all([advanced, restored, again])
  assert.deepEqual(seen, [1_800_003_600_000])
  assert.equal(clock.now(), 61_000)
})

test('a clock that is set back lets those who wait wait as long as before', async () => {
  const clock = createMovedClock(machineOf())
  clock.setRate(0)
  const began = clock.now()
  let ends = 0
  clock.timers.after(60_000, () => ends++)
  await clock.set(began - 86_400_000)
  assert.equal(clock.now(), began - 86_400_000)
  await clock.advance(59_000)
  assert.equal(ends, 0)
  await clock.advance(1000)
  assert.equal(ends, 1)
})

test('a pause for breath passes on a stopped clock, a wait does not', () => {
  const machine = machineOf()
  const clock = createMovedClock(machine)
  clock.setRate(0)
  let breaths = 0
  let waits = 0
  clock.timers.after(10, () => breaths++)
  clock.timers.after(1000, () => waits++)
  machine.pass(5000)
  assert.deepEqual([breaths, waits], [1, 0])
})

test('spans are read as people write them', () => {
  for (const [text, expected] of [
    ['2h', 7_200_000],
    ['1d12h', 129_600_000],
    ['1.5s', 1500],
    ['250ms', 250],
    ['PT2H', 7_200_000],
    ['P1DT30M', 88_200_000],
    ['P2W', 1_209_600_000],
    ['0s', undefined],
    ['', undefined],
    ['P', undefined],
    ['PT', undefined],
    ['2', undefined],
    ['-1h', undefined],
    ['2 hours', undefined],
    ['P1Y', undefined],
    ['9999999w', undefined],
  ] as const) {
    assert.equal(parseDuration(text), expected, text)
  }
})
