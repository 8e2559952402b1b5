import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shortWords } from './short-words.ts'

test('words are cleaned as far as they are kept', () => {
  assert.equal(shortWords('no\nsuch\u0001\u0002table', 100), 'no such table')
  assert.equal(shortWords('e\u0001'.repeat(50), 10), 'e e e e e ')
  // Cleaning this whole text would take minutes.
  assert.equal(shortWords('e\u0001'.repeat(200_000_000), 1_000).length, 1_000)
})
