/** Batches of the one writer: owners take turns, and long work is alone. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OwnersInTurn } from './owners-in-turn.ts'

const waitingOf = (...owners: readonly string[]) =>
  owners.map((owner, number) => ({ owner, number }))

test('an owner who writes for long has batches of one, also where nobody else waits', async (t) => {
  const owners = new OwnersInTurn()
  const waiting = waitingOf('long', 'long', 'long')
  assert.equal(owners.take([...waiting], 10).length, 3)
  let now = 0
  t.mock.method(performance, 'now', () => (now += 60))
  await owners.measured('long', async () => {})
  assert.equal(owners.take([...waiting], 10).length, 1)
})

test('owners take turns, and of one owner in order of arrival', () => {
  const owners = new OwnersInTurn()
  const waiting = waitingOf('a', 'a', 'a', 'b', 'c')
  const taken = owners.take(waiting, 4).map(({ owner, number }) => `${owner}${number}`)
  assert.deepEqual(taken, ['a0', 'b3', 'c4', 'a1'])
  assert.deepEqual(
    waiting.map(({ number }) => number),
    [2],
  )
})
