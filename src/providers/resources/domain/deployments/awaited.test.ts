/** Whoever waits for a resource is woken by its end, however many wait, and however much one of them waits for. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAwaited } from './awaited.ts'

const underWay = { operation: {} }
const done = {}

test('each of those that wait for a resource is woken, once', async () => {
  await using at = await opened()
  for (const waiting of ['a', 'b']) await at.awaiting('one', waiting, async () => underWay)
  at.settle('one')
  at.settle('one')
  assert.deepEqual(at.woken, ['a', 'b'])
})

test('what one waits for takes no room from another, nor does what has settled at once', async () => {
  await using at = await opened()
  for (let count = 0; count < 60_000; count++) {
    await at.awaiting(`now ${count}`, 'large', async () => done)
  }
  for (let count = 0; count < 20_000; count++) {
    await at.awaiting(`later ${count}`, 'large', async () => underWay)
  }
  await at.awaiting('other', 'small', async () => underWay)
  at.settle('now 1')
  at.settle('other')
  at.settle('later 1')
  assert.deepEqual(at.woken, ['small', 'large'])
})

test('the end is seen that comes before the answer; whoever has ended is woken no more', async () => {
  await using at = await opened()
  await at.awaiting('one', 'a', async () => {
    at.settle('one')
    return underWay
  })
  await at.awaiting('two', 'a', async () => underWay)
  at.forget('a')
  at.settle('two')
  assert.deepEqual(at.woken, ['a'])
})

async function opened() {
  const closing = new AbortController()
  const callbacks: ((key: string) => void)[] = []
  const awaited = createAwaited((callback) => callbacks.push(callback))
  const woken: string[] = []
  awaited.watchEvents((key) => woken.push(key), closing.signal)
  return {
    ...awaited,
    woken,
    settle(key: string) {
      for (const callback of callbacks) callback(key)
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
    },
  }
}
