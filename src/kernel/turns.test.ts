/** One waiting task continues in each turn, in order, including those that wait again. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from './turns.ts'

test('each turn lets one go on, in the order they asked', async () => {
  const scheduled: (() => void)[] = []
  const nextTurn = createTurns((run) => scheduled.push(run))
  const done: string[] = []
  const work = async (name: string): Promise<void> => {
    for (let slice = 1; slice <= 2; slice++) {
      await nextTurn()
      done.push(`${name}${slice}`)
    }
  }
  const all = Promise.all([work('a'), work('b'), work('c')])
  const turns: string[][] = []
  while (scheduled.length > 0) {
    assert.equal(scheduled.length, 1)
    const before = done.length
    scheduled.shift()?.()
    // A task that continued runs up to its next pause.
    for (let at = 0; at < 5; at++) await Promise.resolve()
    turns.push(done.slice(before))
  }
  await all
  assert.deepEqual(turns, [['a1'], ['b1'], ['c1'], ['a2'], ['b2'], ['c2']])
})
