/** Containers of one group are changed two at a time, and the rest at once where one takes long to fail. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { changeEach } from './some-at-once.ts'

async function mostAtOnce(failing: ReadonlySet<number>): Promise<readonly [number, unknown]> {
  let [running, most] = [0, 0]
  const changed: number[] = []
  const all = Array.from({ length: 9 }, (_, at) => at)
  const [ended] = await Promise.allSettled([
    changeEach(all, async (at) => {
      most = Math.max(most, ++running)
      await turn()
      running--
      changed.push(at)
      if (failing.has(at)) throw new Error(`${at} failed`)
    }),
  ])
  assert.deepEqual(changed, all)
  return [most, ended.status === 'rejected' ? ended.reason.message : undefined]
}

test('two are changed at once', async () => {
  assert.deepEqual(await mostAtOnce(new Set()), [2, undefined])
})

test('after one that failed all others go at once, and the first failure is thrown', async () => {
  assert.deepEqual(await mostAtOnce(new Set([1, 5])), [7, '1 failed'])
})
