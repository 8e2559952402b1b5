import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactOptimistically } from './optimistic.ts'
import { FeedMoved } from './store.ts'

const first = { positions: { rights: 0 }, decision: 0 }

test('what was decided is decided anew by what moved, and a refusal ends it', async () => {
  const seen: unknown[] = []
  const done = transactOptimistically(
    first,
    async () => {
      throw new Error('no right')
    },
    async (decision, mode) => {
      seen.push(decision, mode)
      throw new FeedMoved({ rights: 1 })
    },
  )
  await assert.rejects(done, /no right/)
  assert.deepEqual(seen, [0, { expected: { rights: 0 } }])
})

test('a feed that always moves does not hold up a transaction for ever', async () => {
  let rights = 0
  const seen: unknown[] = []
  const done = await transactOptimistically(
    first,
    async () => rights,
    async (decision, mode) => {
      seen.push([decision, mode?.expected])
      if (mode === undefined) return 'done'
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
