import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FeedMoved } from './store.ts'
import { whileUnmoved } from './while-unmoved.ts'

const first = { positions: { rights: 0 }, decision: 0 }

test('what was decided is decided anew by what moved, and a refusal ends it', async () => {
  const seen: unknown[] = []
  const done = whileUnmoved(
    first,
    async () => {
      throw new Error('no right')
    },
    async (decision, among) => {
      seen.push(decision, among)
      throw new FeedMoved({ rights: 1 })
    },
  )
  await assert.rejects(done, /no right/)
  assert.deepEqual(seen, [0, { unmoved: { rights: 0 } }])
})

test('a feed that always moves does not hold up a transaction for ever', async () => {
  let rights = 0
  const seen: unknown[] = []
  const done = await whileUnmoved(
    first,
    async () => rights,
    async (decision, among) => {
      seen.push([decision, among?.unmoved])
      if (among === undefined) return 'done'
      rights++
      throw new FeedMoved({ rights })
    },
  )
  assert.equal(done, 'done')
  assert.deepEqual(seen, [
    [0, { rights: 0 }],
    [1, { rights: 1 }],
    [2, { rights: 2 }],
    [3, undefined],
  ])
})
