/** What the body parser takes, refuses, and says about it. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { parseJson } from './json.ts'

function refusal(text: string | Buffer, depthMax = 64): ApiError {
  try {
    parseJson(Buffer.from(text), depthMax)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new assert.AssertionError({ message: `accepted: ${text.toString().slice(0, 80)}` })
}

describe('parseJson', () => {
  const refused: readonly (readonly [text: string | Buffer, says: RegExp])[] = [
    ['', /expected a value at position 0 \(line 1, column 1\)/],
    ['{"a":}', /expected a value at position 5/],
    ['{"a" 1}', /expected ":" at position 5/],
    ['{"a":1,}', /expected a name in quotes at position 7/],
    ['[1 2]', /expected "," or "]" at position 3/],
    ['{"a":1\n,,}', /position 8 \(line 2, column 2\)/],
    ['{} x', /expected the end of the text at position 3/],
    ['"\n"', /control character at position 1/],
    ['"\\x"', /a valid escape at position 1/],
    ['01', /the end of the text at position 1/],
    ['NaN', /a value at position 0/],
    ['"abc', /the quote that ends the text at position 4/],
    [Buffer.from([0x22, 0xff, 0x22]), /not valid UTF-8/],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), /not valid UTF-8/],
    ['{"a":"\\ud800"}', /lone surrogate/],
    ['{"a":"\\u0000"}', /NUL/],
    ['{"__proto__":{"a":1}}', /__proto__/],
    ['{"a":{"\\u005f_proto__":1}}', /__proto__/],
  ]
  for (const [text, says] of refused) {
    test(`refuses ${JSON.stringify(text.toString())}`, () => {
      const error = refusal(text)
      assert.equal(error.status, 400)
      assert.equal(error.code, 'InvalidRequestContent')
      assert.match(error.message, says)
    })
  }

  test('says where an unfit text stands', () => {
    assert.equal(refusal('{"a":[{"b":1},{"b c":"\\udfff"}]}').extra.target, 'a[1].b c')
  })

  test('takes what is JSON', () => {
    const fit = '{"a":[1,-2.5e3,true,false,null,"\\u00e9\\ud83d\\ude00\\n"],"constructor":{}}'
    assert.deepEqual(parseJson(Buffer.from(fit), 64), JSON.parse(fit))
    assert.deepEqual(parseJson(Buffer.from('\ufeff{}'), 64), {})
  })

  test('counts depth outside of texts only', () => {
    const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    assert.ok(parseJson(Buffer.from(nest(64)), 64))
    assert.match(refusal(nest(65)).message, /deeper than 64 levels, at position 64/)
    assert.deepEqual(parseJson(Buffer.from('["[[[[\\"[[[["]'), 1), ['[[[["[[[['])
    assert.match(refusal('['.repeat(1_000_000)).message, /deeper/)
  })
})
