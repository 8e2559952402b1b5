/** Values that are shown stay in the record, and nothing else does. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskUnlessShown } from './secret-paths.ts'

const mask = '*****'

test('what is not shown at its place is masked', () => {
  const given = {
    Name: 'One',
    zone: 1,
    secret: 'hush',
    open: { map: ['hush'], kept: null, off: false },
    list: ['b', 'a', 'hush', { of: 'x', key: 'hush' }],
    sameElsewhere: 'x',
    '__proto__ ': 'hush',
  }
  const shown = { name: 'one', zone: '1', list: ['a', 'b', mask, { of: 'X', key: mask }] }
  assert.deepEqual(maskUnlessShown(given, shown), {
    Name: 'One',
    zone: 1,
    secret: mask,
    open: { map: [mask], kept: null, off: false },
    list: ['b', 'a', mask, { of: 'x', key: mask }],
    sameElsewhere: mask,
    '__proto__ ': mask,
  })
  assert.deepEqual(maskUnlessShown({ a: 1, b: ['x'] }, undefined), { a: mask, b: [mask] })
  assert.equal(maskUnlessShown('hush', { hush: 'hush' }), mask)
})
