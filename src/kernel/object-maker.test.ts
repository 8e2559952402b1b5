/** Objects that are made of names and values. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectMaker, objectMapper } from './object-maker.ts'

test('an object has the members of its names, in their order, and no name is code', () => {
  const names = ['b', 'a', '2 words', '@odata.etag', `'"\\\u2028}`, '__proto__', 'constructor']
  const made = objectMaker<number>(names)(names.map((_, at) => at))
  assert.deepEqual(
    Object.entries(made),
    names.map((name, at) => [name, at]),
  )
  assert.equal(Object.getPrototypeOf(made), Object.prototype)
})

test('of two members of one name the later one counts', () => {
  assert.deepEqual(objectMaker(['id', 'id'])([1, 2]), { id: 2 })
})

test('an object is mapped member by member, and no name is code', () => {
  const from = `'"\\u2028}; throw 1`
  const map = objectMapper<Record<string, number>>([
    { name: '@odata.etag', make: (source: Record<string, number>) => Object.keys(source).length },
    { name: '__proto__', from: 'b', make: (value: number) => value * 2 },
    { name: from, from, make: (value: number | undefined) => value ?? 'none' },
  ])
  assert.deepEqual(Object.entries(map({ b: 2, [from]: 3 })), [
    ['@odata.etag', 2],
    ['__proto__', 4],
    [from, 3],
  ])
  assert.equal(map({ b: 1 })[from], 'none')
})
