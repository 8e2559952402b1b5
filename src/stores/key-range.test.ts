/** Ranges of keys as a table. The contract suite shows that they are right about rows. */

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keyRange } from './key-range.ts'

const end = '\u{10FFFF}'

test('everything is one range', () => {
  assert.deepEqual(keyRange({ under: '/' }), { self: undefined, from: '', to: end })
  assert.deepEqual(keyRange({ under: '/', after: '/b' }), { self: undefined, from: '/b', to: end })
})

test('a key is itself and what follows its slash', () => {
  assert.deepEqual(keyRange({ under: '/a' }), { self: '/a', from: '/a/', to: '/a0' })
})

test('a page begins where the last one ended', () => {
  const range = (after: string) => keyRange({ under: '/a', after })
  assert.deepEqual(range('/a/b'), { self: undefined, from: '/a/b', to: '/a0' })
  assert.deepEqual(range('/a'), { self: undefined, from: '/a/', to: '/a0' })
  assert.deepEqual(range('/A'), { self: '/a', from: '/a/', to: '/a0' })
  assert.deepEqual(range('/a-b'), { self: undefined, from: '/a/', to: '/a0' })
  assert.deepEqual(range('/b'), { self: undefined, from: '/b', to: '/a0' })
})

test('bytes are compared, not UTF-16 units', () => {
  // U+FF5E sorts before U+1F600 in UTF-8, and after it in UTF-16.
  const range = keyRange({ under: '/\u{1F600}', after: '/\u{FF5E}' })
  assert.equal(range.self, '/\u{1F600}')
})
