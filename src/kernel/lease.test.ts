import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepLease } from './lease.ts'
import type { Timers } from './ports.ts'

/** Waits that end when the test says so. */
function handTimers() {
  const waits: (() => unknown)[] = []
  const timers: Timers = {
    after(_milliseconds, callback) {
      waits.push(callback)
      return { cancel: () => void (waits.includes(callback) && waits.splice(0)) }
    },
  }
  return { timers, waits, end: async () => await waits.shift()?.() }
}

test('a lease is renewed until it is refused, and lost once; no answer is no refusal', async () => {
  const { timers, waits, end } = handTimers()
  const answers = [true, undefined, new Error('the store is away'), true, false]
  let losses = 0
  const renew = async (): Promise<boolean | undefined> => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  }
  using _lease = keepLease(timers, 7, renew, () => losses++)
  for (let left = 5; left > 0; left--) {
    assert.deepEqual([answers.length, waits.length, losses], [left, 1, 0])
    await end()
  }
  assert.deepEqual([answers.length, waits.length, losses], [0, 0, 1])
})

test('after the end of its work a lease is neither renewed nor lost, whatever a late answer says', async () => {
  for (const late of [true, false]) {
    const { timers, waits, end } = handTimers()
    const answer = Promise.withResolvers<boolean>()
    let losses = 0
    const lease = keepLease(
      timers,
      7,
      () => answer.promise,
      () => losses++,
    )
    const renewed = end()
    lease[Symbol.dispose]()
    answer.resolve(late)
    await renewed
    assert.deepEqual([waits.length, losses], [0, 0])
  }
  const { timers, waits } = handTimers()
  keepLease(
    timers,
    7,
    async () => true,
    () => undefined,
  )[Symbol.dispose]()
  assert.deepEqual(waits, [])
})
