/** Limits of threads: what is counted, and what is not. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
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
