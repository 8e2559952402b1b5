/** Limits of threads: what is counted, and what is not. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { until } from '../../tests/until.ts'
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

test('tasks that take long leave a thread to those that do not, and are answered', async () => {
  const file = new URL('./testing/counting-thread.ts', import.meta.url)
  const threads = openThreads<'wait' | 'wait longer' | 'quick', number>(file, {
    ...{ threadsMax: 1, seconds: 600, heapMegabytes: 64, idleSeconds: 0 },
  })
  const ended: string[] = []
  const ask = async (owner: string, task: 'wait' | 'wait longer' | 'quick'): Promise<number> => {
    const count = await threads.ask(owner, task)
    ended.push(owner)
    return count
  }
  const begun = new BroadcastChannel('counting-thread')
  const starts: string[] = []
  begun.onmessage = ({ data }) => starts.push(data)
  const first = ask('first', 'wait')
  const second = ask('second', 'wait longer')
  await until(() => starts.includes('wait') && starts.includes('wait longer'))
  assert.equal(await ask('third', 'quick'), 1)
  assert.deepEqual(ended, ['third'])
  begun.postMessage('end')
  assert.equal(await first, 1)
  await until(() => starts.filter((one) => one === 'wait longer').length === 2)
  begun.postMessage('end')
  await second
  assert.deepEqual(ended, ['third', 'first', 'second'])
  begun.close()
})

test('a thread that does not start, or ends by itself, keeps no place', async () => {
  const file = new URL('./testing/ending-thread.ts', import.meta.url)
  const limits = { threadsMax: 1, seconds: 600, heapMegabytes: 64, idleSeconds: 600 }
  for (const [start, reason] of [
    ['never', /not started in 1 seconds/],
    ['ends', /ended without an answer/],
  ] as const) {
    const begin = () => new Worker(file, { workerData: start })
    const threads = openThreads<string, string>(file, { ...limits, startSeconds: 1 }, begin)
    for (const owner of ['one', 'two']) await assert.rejects(threads.ask(owner, 'quick'), reason)
  }
  let last: Worker | undefined
  const threads = openThreads<string, string>(file, limits, () => {
    last = new Worker(file)
    return last
  })
  assert.equal(await threads.ask('one', 'quick'), 'quick')
  await assert.rejects(threads.ask('one', 'end'), /ended without an answer/)
  assert.equal(await threads.ask('one', 'end later'), 'end later')
  assert.ok(last !== undefined)
  await once(last, 'exit')
  assert.equal(await threads.ask('two', 'quick'), 'quick')
})

test('a task that nobody waits for any more leaves the queue', async () => {
  const file = new URL('./testing/counting-thread.ts', import.meta.url)
  const threads = openThreads<'wait' | 'wait longer' | 'quick', number>(file, {
    ...{ threadsMax: 1, seconds: 600, heapMegabytes: 64, idleSeconds: 0 },
  })
  const begun = new BroadcastChannel('counting-thread')
  const starts: string[] = []
  begun.onmessage = ({ data }) => starts.push(data)
  const count = (task: string) => starts.filter((one) => one === task).length
  const client = new AbortController()
  const awaited = () => client.signal
  const first = threads.ask('first', 'wait')
  await until(() => count('wait') === 1)
  // Ended after a second, when the first one has the other thread.
  const second = threads.ask('second', 'wait longer', awaited)
  await until(() => count('wait longer') === 1)
  const third = threads.ask('third', 'wait')
  await until(() => count('wait') === 2)
  const fourth = threads.ask('fourth', 'quick', awaited)
  const left = [second, fourth].map((one) => assert.rejects(one, /gone/))
  client.abort(new Error('gone'))
  await Promise.all(left)
  const ends = setInterval(() => begun.postMessage('end'), 20)
  await Promise.all([first, third])
  clearInterval(ends)
  // Nor is it begun where there is room.
  await assert.rejects(threads.ask('fifth', 'quick', awaited), /gone/)
  assert.deepEqual([count('wait longer'), count('quick')], [1, 0])
  begun.close()
})
