/** How often a deployment is read for what is nested in it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Parents } from './parents.ts'

test('hundreds nested in one read it once a second, and know within it that it was canceled', async () => {
  let now = 0
  let reads = 0
  let canceled = false
  const parents = new Parents(
    {
      async get() {
        reads++
        // Nothing else of it is used here.
        return { state: 'Running', model: { run: 'r', canceled } } as never
      },
    },
    { now: () => now },
  )
  const nesting = { root: 'r', depth: 1, parent: { id: '/deployments/Outer', run: 'r' } }
  const ask = () =>
    Promise.all(Array.from({ length: 300 }, () => parents.isAnyCanceled({ nesting })))
  assert.deepEqual(new Set(await ask()), new Set([false]))
  await ask()
  assert.equal(reads, 1)
  canceled = true
  now = 1000
  assert.deepEqual(new Set(await ask()), new Set([true]))
  assert.equal(reads, 2)
  const other = { ...nesting, parent: { id: '/deployments/Outer', run: 'earlier' } }
  assert.equal(await parents.isAnyCanceled({ nesting: other }), false)
})
