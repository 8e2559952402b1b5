/** Limits of threads: what is counted, and what is not. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openThreads, PastLimit } from './limited-threads.ts'

test('the time that a thread takes to load its code counts for no task', async () => {
  const file = new URL('./testing/slow-thread.ts', import.meta.url)
  const threads = openThreads<number, string>(file, {
    ...{ threadsMax: 1, seconds: 1, heapMegabytes: 64, idleSeconds: 0 },
  })
  assert.equal(await threads.ask('one', 0), 'done')
  await assert.rejects(threads.ask('one', 60_000), PastLimit)
  assert.equal(await threads.ask('two', 0), 'done')
})
