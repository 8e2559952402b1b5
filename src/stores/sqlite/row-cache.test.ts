/** The cache returns only what was put and not forgotten, and stays within its limit. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceRow } from '../store.ts'
import { RowCache } from './row-cache.ts'

function row(key: string, bytes = 1000): ResourceRow {
  const document = 'x'.repeat(bytes)
  return {
    key,
    id: key,
    type: 't',
    tracked: false,
    uniqueKey: null,
    etag: 'e',
    generation: 1,
    document,
  }
}

test('gives back what was put, until it is forgotten', () => {
  const cache = new RowCache(1_000_000)
  const one = row('/a')
  cache.put(one)
  assert.equal(cache.get('/a'), one)
  cache.forget('/a')
  assert.equal(cache.get('/a'), undefined)
})

test('forgets an old row too, also after it has moved', () => {
  const cache = new RowCache(64_000)
  cache.put(row('/a'))
  for (let at = 0; at < 20; at++) cache.put(row(`/filler/${at}`))
  assert.ok(cache.get('/a'), 'it is in the old generation')
  cache.forget('/a')
  assert.equal(cache.get('/a'), undefined)
})

test('what is used stays, the rest goes, and the bound holds', () => {
  const cache = new RowCache(64_000)
  cache.put(row('/used'))
  for (let at = 0; at < 1000; at++) {
    cache.put(row(`/filler/${at}`))
    assert.ok(cache.get('/used'), `lost after ${at}`)
  }
  let kept = 0
  for (let at = 0; at < 1000; at++) if (cache.get(`/filler/${at}`) !== undefined) kept++
  assert.ok(kept * 1600 <= 64_000, `${kept} rows are kept`)
})

test('a row that would push out everything else is not kept', () => {
  const cache = new RowCache(64_000)
  cache.put(row('/large', 50_000))
  assert.equal(cache.get('/large'), undefined)
})
