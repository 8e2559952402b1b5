/** The bounded map: never more entries than promised, never a wrong value, and used entries stay. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { createLruCache } from './lru-cache.ts'

test('any history: bounded, and every answer is the last value set and not deleted', () => {
  const key = fc.nat({ max: 12 }).map(String)
  const action = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), key, value: fc.nat() }),
    fc.record({ kind: fc.constantFrom('get' as const, 'delete' as const), key }),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(action), (size, actions) => {
      const cache = createLruCache<number>(size)
      const truth = new Map<string, number>()
      for (const step of actions) {
        if (step.kind === 'set') {
          cache.set(step.key, step.value)
          truth.set(step.key, step.value)
          assert.equal(cache.get(step.key), step.value)
        } else if (step.kind === 'delete') {
          cache.delete(step.key)
          truth.delete(step.key)
        }
        const found = cache.get(step.key)
        assert.ok(found === undefined || found === truth.get(step.key))
        assert.ok(cache.size <= 2 * size)
      }
    }),
  )
})

test('a key in use outlives any number of others', () => {
  const cache = createLruCache<number>(10)
  cache.set('hot', 1)
  for (let i = 0; i < 1000; i += 1) {
    cache.set(`cold${i}`, i)
    assert.equal(cache.get('hot'), 1)
  }
  cache.clear()
  assert.equal(cache.get('hot'), undefined)
})
