import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JoinedGets, tooLarge } from './joined-gets.ts'
import type { Answer } from './session.ts'

const nothing = { changes: 0, columns: [], command: 'SELECT' }
const cellsOf = (key: string) => [key, '', '', 0, null, '', 0, key === 'large' ? null : '{}']

test('keys of one turn are one statement, and those that come meanwhile wait for the next', async () => {
  const sent: { readonly keys: readonly string[]; answer(outcome: Answer | Error): void }[] = []
  const joined = new JoinedGets((_, [keys]) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const answer = (outcome: Answer | Error): void =>
      outcome instanceof Error ? reject(outcome) : resolve(outcome)
    sent.push({ keys: keys as readonly string[], answer })
    return promise
  })
  const endOfTurn = () => new Promise(setImmediate)
  const found = Array.from({ length: 100 }, (_, index) => joined.get(`key-${index % 99}`))
  assert.equal(sent.length, 0)
  await endOfTurn()
  assert.deepEqual(
    sent.map(({ keys }) => keys.length),
    [64, 35],
  )
  const later = ['large', 'gone', 'key-1'].map((key) => joined.get(key))
  await endOfTurn()
  assert.equal(sent.length, 2)
  sent[1]?.answer(new Error('away'))
  const failed = await Promise.allSettled(found.slice(64, 99))
  assert.ok(failed.every(({ status }) => status === 'rejected'))
  await endOfTurn()
  assert.deepEqual(sent[2]?.keys, ['large', 'gone', 'key-1'])
  sent[2]?.answer({ ...nothing, rows: [cellsOf('key-1'), cellsOf('large')] })
  assert.deepEqual(await Promise.all(later), [tooLarge, undefined, cellsOf('key-1')])
  // What was asked for earlier, under the same key, is answered by its own statement.
  sent[0]?.answer({ ...nothing, rows: [cellsOf('key-0')] })
  assert.deepEqual(await found[0], cellsOf('key-0'))
  assert.deepEqual(await found[99], cellsOf('key-0'))
  assert.equal(await found[1], undefined)
})
