import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JoinedPositions } from './joined-positions.ts'
import type { Answer } from './session.ts'

const nothing = { changes: 0, columns: [], command: 'SELECT' }

test('positions wanted while a statement is under way are read by the next', async () => {
  const sent: { readonly names: unknown; answer(outcome: Answer | Error): void }[] = []
  const joined = new JoinedPositions((_, [names]) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const answer = (outcome: Answer | Error): void =>
      outcome instanceof Error ? reject(outcome) : resolve(outcome)
    sent.push({ names, answer })
    return promise
  })
  const endOfTurn = () => new Promise(setImmediate)
  const first = [joined.position('a'), joined.position('b'), joined.position('a')]
  assert.equal(sent.length, 0)
  await endOfTurn()
  const second = [joined.position('b')]
  await endOfTurn()
  second.push(joined.position('c'))
  await endOfTurn()
  assert.deepEqual(
    sent.map(({ names }) => names),
    [['a', 'b']],
  )
  sent[0]?.answer({ ...nothing, rows: [['a', 1, 'noon']] })
  assert.deepEqual(await Promise.all(first), [1, 0, 1])
  assert.equal(joined.server, 'noon')
  await endOfTurn()
  assert.deepEqual(sent[1]?.names, ['b', 'c'])
  const third = joined.position('a')
  // Who asked for the one that failed learns of it, and the next is sent all the same.
  sent[1]?.answer(new Error('away'))
  const failed = await Promise.allSettled(second)
  assert.ok(failed.every(({ status }) => status === 'rejected'))
  await endOfTurn()
  // A feed without a change has no position there.
  sent[2]?.answer({ ...nothing, rows: [[null, null, 'evening']] })
  assert.equal(await third, 0)
  assert.equal(joined.server, 'evening')
})
