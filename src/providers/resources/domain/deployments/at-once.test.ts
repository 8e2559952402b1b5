/** Work under way at once: its ends are seen one by one, and its failure is thrown. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AtOnce } from './at-once.ts'

test('each end is waited for, also of work that ends while nobody waits', async () => {
  const going = new AtOnce()
  const all = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  for (const { promise } of all) going.add(promise)
  assert.equal(going.size, 5)
  all[3]?.resolve()
  await going.next()
  assert.equal(going.size, 4)
  for (const { resolve } of all) resolve()
  while (going.size > 0) await going.next()
  await going.next()
})

test('a failure is thrown to whoever waits, then or later', async () => {
  const going = new AtOnce()
  const open = Promise.withResolvers<void>()
  going.add(open.promise)
  going.add(Promise.reject(new Error('failed')))
  await assert.rejects(going.next(), /failed/)
  open.resolve()
  await assert.rejects(going.next(), /failed/)
})

test('a failure that comes with the end of another is thrown, also where nothing is left', async () => {
  const going = new AtOnce()
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  going.add(one.promise)
  going.add(other.promise)
  one.resolve()
  other.reject(new Error('failed'))
  await going.next().catch(() => {})
  assert.equal(going.size, 0)
  await assert.rejects(going.next(), /failed/)
})
