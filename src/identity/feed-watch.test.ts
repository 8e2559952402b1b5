/** What a database server that is away, or takes another one’s place, does to the caches of the directory. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { owner } from '#plane/testing/start.ts'
import type { Sql } from '#stores/store.ts'
import { createDirectoryCache } from './directory-cache.ts'
import { watchFeed } from './feed-watch.ts'

test('another server between the position and the changes fails nobody', async () => {
  let position = 9
  const feed = {
    position: () => Promise.resolve(position),
    server: 'one',
    // It lost what the position counts, and lists nothing.
    async since(from: number) {
      position = 8
      feed.server = 'another'
      return { position: from, keys: [] }
    },
  }
  const watch = watchFeed(feed)
  const heard: (readonly string[] | 'all')[] = []
  watch.onChange((keys) => heard.push(keys))
  await watch.refresh()
  position = 12
  await watch.refresh()
  assert.deepEqual(heard, ['all'])
  await watch.refresh()
  assert.deepEqual(heard, ['all'])
})

test('a feed that moves and lists no change is refused', async () => {
  let position = 9
  const feed = {
    position: () => Promise.resolve(position),
    server: 'one',
    since: async (from: number) => ({ position: from, keys: [] }),
  }
  const watch = watchFeed(feed)
  await watch.refresh()
  position = 12
  await assert.rejects(async () => watch.refresh(), /lists no change/)
})

test('whether somebody is active rejects once where the feed does not answer, and leaves no rejection to nobody', async (t) => {
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  t.after(() => process.off('unhandledRejection', note))
  const feed = {
    server: undefined,
    position: async () => Promise.reject(new Error('away')),
    since: async () => Promise.reject(new Error('away')),
  }
  const sql = {} as Sql
  const watch = watchFeed(feed)
  const cache = createDirectoryCache({ sql, watch, remembered: 10, federatedOf: async () => [] })
  await assert.rejects(cache.isActive(owner), /away/)
  await new Promise(setImmediate)
  assert.deepEqual(unhandled, [])
})
