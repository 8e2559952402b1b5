/** Whole numbers of 64 bits, read and written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactJsonText, parseExactJson, writeExactIntegers } from './exact-json.ts'

const texts = [
  '9007199254740993',
  '-9223372036854775808',
  '[9223372036854775807,1,"9007199254740993"]',
  '{"a":{"__proto__":9007199254740993}}',
  '9007199254740992',
]

test('what 64 bits hold is written as it was read', () => {
  for (const text of texts) assert.equal(exactJsonText(parseExactJson(text)), text)
})

test('a number stays one where it is exact, has a fraction, or is beyond 64 bits', () => {
  for (const text of ['9007199254740991', '1.00000000000000001', '1e20', '9223372036854775808']) {
    assert.equal(parseExactJson(text), JSON.parse(text))
  }
  assert.equal(parseExactJson('9007199254740993'), 9007199254740993n)
})

test('the platform writes bigints too, once it was said', () => {
  writeExactIntegers()
  assert.equal(JSON.stringify({ a: [9007199254740993n] }), '{"a":[9007199254740993]}')
})
