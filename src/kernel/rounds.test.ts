import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timers } from './ports.ts'
import { startRounds } from './rounds.ts'

/** Waits that end when the test says so. */
function handTimers() {
  const waits: { readonly milliseconds: number; end(): unknown }[] = []
  const timers: Timers = {
    after(milliseconds, callback) {
      const wait = { milliseconds, end: callback }
      waits.push(wait)
      return { cancel: () => waits.splice(waits.indexOf(wait), 1) }
    },
  }
  return { timers, waits, end: async () => await waits.shift()?.end() }
}

test('each round says when the next one is due', async () => {
  const { timers, waits, end } = handTimers()
  const made: number[] = []
  await using _rounds = startRounds(timers, 7, async () => made.push(made.length) * 10)
  assert.deepEqual(made, [])
  assert.equal(waits[0]?.milliseconds, 7)
  await end()
  assert.equal(waits[0]?.milliseconds, 10)
  await end()
  assert.deepEqual([made, waits.map(({ milliseconds }) => milliseconds)], [[0, 1], [20]])
})

test('a first wait of zero begins at once; waking begins the next round, and does not begin it twice', async () => {
  const { timers, waits } = handTimers()
  const running: (() => void)[] = []
  const round = () => new Promise<number>((resolve) => running.push(() => resolve(5)))
  const rounds = startRounds(timers, 0, round)
  assert.equal(running.length, 1)
  rounds.wake()
  assert.equal(running.length, 1)
  running[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  // The round may have looked before.
  assert.deepEqual(
    waits.map(({ milliseconds }) => milliseconds),
    [0],
  )
  rounds.wake()
  assert.deepEqual([running.length, waits.length], [2, 0])
  running[1]?.()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    waits.map(({ milliseconds }) => milliseconds),
    [5],
  )
  await rounds[Symbol.asyncDispose]()
})

test('disposing waits for the round that runs, which learns of it, and none follows', async () => {
  const { timers, waits } = handTimers()
  const begun = Promise.withResolvers<() => boolean>()
  const goOn = Promise.withResolvers<void>()
  const rounds = startRounds(timers, 0, async (isStopped) => {
    begun.resolve(isStopped)
    await goOn.promise
    return 1
  })
  const isStopped = await begun.promise
  assert.equal(isStopped(), false)
  let isDisposed = false
  const disposed = rounds[Symbol.asyncDispose]().then(() => {
    isDisposed = true
  })
  assert.equal(isStopped(), true)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isDisposed, false)
  goOn.resolve()
  await disposed
  assert.deepEqual(waits, [])
})
