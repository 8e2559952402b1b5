/** Objects that are made of names and values. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectMaker } from './object-maker.ts'

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
