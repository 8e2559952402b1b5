/** The transaction of a caller's write under a name. */

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { memoryStore, owner } from './testing/start.ts'
import { transactFor } from './transact-on.ts'

test('what nobody waits for when its turn comes asks for no rights', async () => {
  await using store = await memoryStore()
  const controller = new AbortController()
  const held = Promise.withResolvers<void>()
  const holder = store.transact(async () => undefined, {
    name: 'rights',
    ready: () => held.promise,
  })
  let times = 0
  const write = transactFor(
    { store },
    { stored: { feed: 'rights' } as never }, // nothing else of it is read
    {
      input: {
        principal: owner,
        query: new URLSearchParams(),
        body: undefined,
        preconditions: {},
        correlationId: 'c',
        pending: undefined,
        signal: controller.signal,
        authorizeAgain: async () => {
          times++
          return undefined
        },
      },
      open: async () => undefined,
      inside: async () => undefined,
    },
  )
  const late = assert.rejects(write, { name: 'AbortError' })
  controller.abort()
  held.resolve()
  await Promise.all([holder, late])
  assert.equal(times, 0)
})
