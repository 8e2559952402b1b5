/** The cache returns only what was put and not forgotten, and stays within its limit. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

test('a row takes the place of the one before, and a very large one leaves none', () => {
  const cache = new RowCache(64_000)
  cache.put(row('/a'))
  const second = row('/a', 2000)
  cache.put(second)
  assert.equal(cache.get('/a'), second)
  cache.put(row('/a', 50_000))
  assert.equal(cache.get('/a'), undefined)
})

test('rows that fit the bound all stay, however often they are asked for', () => {
  const cache = new RowCache(64_000)
  const keys = Array.from({ length: 40 }, (_, at) => `/fits/${at}`)
  for (const key of keys) cache.put(row(key))
  for (let round = 0; round < 5; round++) {
    for (const key of keys) assert.ok(cache.get(key), `${key} is gone in round ${round}`)
  }
})

test('rows go out and in while a hand goes round', () => {
  const cache = new RowCache(64_000)
  for (let at = 0; at < 5000; at++) {
    cache.put(row(`/row/${at % 97}`, 200 + ((at * 37) % 1500)))
    if (at % 3 === 0) cache.forget(`/row/${(at * 7) % 97}`)
    if (at % 1000 === 999) cache.clear()
  }
  const last = row('/last')
  cache.put(last)
  assert.equal(cache.get('/last'), last)
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

test('large rows are known at their own keys and below them, and forgotten one by one', () => {
  const { large } = new RowCache(64_000)
  const bytes = 300 * 1024
  for (const key of ['/a/b', '/a/b/c/d', '/long/one']) large.note(row(key, bytes))
  large.note(row('/a', 100))
  const atAll = () =>
    ['/a', '/a/b', '/a/bb', '/a/b/c', '/a/b/c/d/e', '/long/one'].map((key) => large.at(key))
  assert.deepEqual(atAll(), [0, bytes, 0, bytes, 2 * bytes, bytes])
  large.forget('/a/b')
  assert.deepEqual(atAll(), [0, 0, 0, 0, bytes, bytes])
  large.note(row('/long/one', 100))
  large.forget('/a/b/c/d')
  assert.deepEqual(atAll(), [0, 0, 0, 0, 0, 0])
  large.note(row('/a/b', bytes))
  assert.equal(large.at('/a/b/c'), bytes)
})

test('rows full of objects count as what those take in memory', () => {
  const cache = new RowCache(1_000_000)
  const document = `[${'{},'.repeat(330)}{}]`
  const keys = Array.from({ length: 200 }, (_, at) => `/dense/${at}`)
  for (const key of keys) cache.put({ ...row(key), document })
  assert.ok(keys.filter((key) => cache.get(key) !== undefined).length < 120)
})

test('a row that was forgotten is in memory no more, also where there was always room', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const cache = new RowCache(64_000_000)
  const seen: WeakRef<ResourceRow>[] = []
  for (let round = 0; round < 5; round++) {
    for (let at = 0; at < 3000; at++) {
      const one = row(`/row/${at}`, 10)
      cache.put(one)
      seen.push(new WeakRef(one))
    }
    for (let at = 0; at < 3000; at++) cache.forget(`/row/${at}`)
  }
  await turn()
  collect()
  const left = seen.filter((one) => one.deref() !== undefined).length
  assert.ok(left < 100, `${left} of ${seen.length} rows`)
  assert.equal(cache.get('/row/1'), undefined)
})
