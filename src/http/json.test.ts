/** What the body parser accepts and refuses, and its messages. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { type JsonSyntax, parseJson, parseJsonWithPauses } from './json.ts'

const many = { membersMax: 1_000_000, propertiesMax: 1_000_000 }

function refusal(text: string | Buffer, depthMax = 64, syntax: JsonSyntax = 'strict'): ApiError {
  try {
    parseJson(Buffer.from(text), { depthMax, ...many }, syntax)
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
    assert.deepEqual(parseJson(Buffer.from(fit), { depthMax: 64, ...many }), JSON.parse(fit))
    assert.deepEqual(parseJson(Buffer.from('\ufeff{}'), { depthMax: 64, ...many }), {})
  })

  for (const syntax of ['exact', 'relaxed'] as const) {
    test(`refuses more long integers than ten thousand, ${syntax}`, () => {
      const list = (count: number) => `["1",${Array(count).fill('9007199254740993').join()}]`
      const taken = parseJson(Buffer.from(list(10_000)), { depthMax: 64, ...many }, syntax)
      assert.equal((taken as unknown[])[10_000], 9007199254740993n)
      const others = ['9e18', '9000000000000000000.0', '90000000000000000000e-1']
      const lists = others.map((one) => `[${Array(10_001).fill(one).join()}]`)
      for (const text of [list(10_001), ...lists]) {
        assert.match(refusal(text, 64, syntax).message, /more than 10000 integers of 16 digits/)
      }
    })
  }

  test('counts depth outside of texts only', () => {
    const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    assert.ok(parseJson(Buffer.from(nest(64)), { depthMax: 64, ...many }))
    assert.match(refusal(nest(65)).message, /deeper than 64 levels, at position 64/)
    assert.deepEqual(parseJson(Buffer.from('["[[[[\\"[[[["]'), { depthMax: 1, ...many }), [
      '[[[["[[[[',
    ])
    assert.match(refusal('['.repeat(1_000_000)).message, /deeper/)
  })
})

describe('parseJson, relaxed', () => {
  const relaxed = (text: string): unknown =>
    parseJson(Buffer.from(text), { depthMax: 64, ...many }, 'relaxed')

  test('takes what the published command line sends of a template file', () => {
    const body = `{"properties": {"mode": "Incremental", template:{\r
      // where it is for
      "$schema": "x", /* a { in a comment */
      "resources": [{ "name": "[concat(\n\t'a',\n'b')]", }, ],
    }, parameters: {"a-b": {value: 1,}}}}`
    assert.deepEqual(relaxed(body), {
      properties: {
        mode: 'Incremental',
        template: { $schema: 'x', resources: [{ name: "[concat(\n\t'a',\n'b')]" }] },
        parameters: { 'a-b': { value: 1 } },
      },
    })
  })

  const refused: readonly (readonly [text: string, says: RegExp])[] = [
    ['{a:1,,}', /expected a name at position 5/],
    ['{,}', /expected a name at position 1/],
    ['[,]', /expected a value at position 1/],
    ['[1,,]', /expected a value at position 3/],
    ["{'a':1}", /expected a name at position 1/],
    ["{a:'b'}", /expected a value at position 3/],
    ['{a:b}', /expected a value at position 3/],
    ['{1:2}', /expected a name at position 1/],
    ['// one\n{a:1 b:2}', /expected "," or "}" at position 12 \(line 2, column 6\)/],
    ['{a:1} /* no end', /the end of the comment at position 6/],
    ['{a:0x10}', /"," or "}" at position 4/],
    ['{a:"\u0000"}', /control character at position 4/],
    ['{a:"\\x"}', /a valid escape at position 4/],
    ['{a:"b', /the quote that ends the text at position 5/],
    ['{__proto__:{a:1}}', /__proto__/],
    ['{a:"\\ud800"}', /lone surrogate/],
    ['', /expected a value at position 0/],
  ]
  for (const [text, says] of refused) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.match(refusal(text, 64, 'relaxed').message, says)
    })
  }

  test('counts depth past comments, and refuses deep texts before it follows them', () => {
    assert.deepEqual(relaxed('[/* " [[[ */ {a: [] // "\n}]'), [{ a: [] }])
    assert.match(refusal('[/* " */[[', 2, 'relaxed').message, /deeper than 2 levels, at position 9/)
    assert.match(refusal('{a:'.repeat(500_000), 64, 'relaxed').message, /deeper than 64 levels/)
    assert.match(refusal('/*"*/['.repeat(200_000), 64, 'relaxed').message, /deeper/)
  })

  test('refuses more objects, lists, properties and elements than there may be, before they are made', () => {
    const limits = { depthMax: 64, membersMax: 10, propertiesMax: 100 }
    const members = (count: number): Buffer => Buffer.from(`[${'1,'.repeat(count - 1)}1]`)
    assert.ok(parseJson(members(10), limits))
    for (const text of [members(11), Buffer.from(`{${'"a":1,'.repeat(10)}"a":1}`)]) {
      assert.throws(
        () => parseJson(text, limits),
        /more than 10 objects, lists, properties and elements/,
      )
    }
    const object = (count: number): Buffer => Buffer.from(`[{${'"a":1,'.repeat(count - 1)}"a":1}]`)
    const narrow = { depthMax: 64, membersMax: 100, propertiesMax: 8 }
    assert.ok(parseJson(object(8), narrow))
    assert.throws(() => parseJson(object(9), narrow), /an object in it has more than 8 properties/)
    // Elements of a nested list are no properties of the object, and each nested object has its own.
    const inner = Buffer.from('{"a":[1,2,3],"b":{"c":1,"d":2},"e":1}')
    const few = { depthMax: 64, membersMax: 100, propertiesMax: 3 }
    assert.ok(parseJson(inner, few))
    assert.throws(() => parseJson(inner, { ...few, propertiesMax: 2 }), /more than 2 properties/)
    // Commas and brackets inside texts do not count.
    assert.ok(parseJson(Buffer.from(JSON.stringify(['[{,'.repeat(20)])), limits))
    const long = Buffer.from(`[${'1'.repeat(600_000)}.]`)
    assert.throws(() => parseJson(long, limits), /it is not JSON\./)
  })

  test('takes a bounded number of what strict JSON has not', () => {
    for (const text of [
      `${'/**/'.repeat(100_000)}1`,
      `{${'a:1,'.repeat(100_000)}}`,
      `"${'\n'.repeat(100_000)}"`,
    ]) {
      assert.match(refusal(text, 64, 'relaxed').message, /expected at most 50000 comments/)
    }
  })

  test('of a name given twice the last counts, as in strict JSON', () => {
    assert.deepEqual(relaxed('{a: 1, "a": 2, a: 3}'), { a: 3 })
  })

  test('strict stays strict', () => {
    for (const text of ['{a:1}', '{"a":1,}', '// c\n{}', '{"a":1}/**/']) refusal(text)
  })
})

describe('parseJsonWithPauses', () => {
  const limits = { depthMax: 64, ...many }

  async function read(text: string, syntax: JsonSyntax) {
    let pauses = 0
    const pause = async (): Promise<void> => void pauses++
    const value = await parseJsonWithPauses(Buffer.from(text), limits, syntax, pause)
    return { value, pauses }
  }

  test('a large body is read in steps with pauses between them, and reads the same', async () => {
    const relaxed = `{a:[${'"\n\u0041", /* b */'.repeat(20_000)}],}`
    const seen = await read(relaxed, 'relaxed')
    assert.deepEqual(seen.value, parseJson(Buffer.from(relaxed), limits, 'relaxed'))
    assert.ok(seen.pauses >= 6, String(seen.pauses))
    const strict = JSON.stringify({ a: 'x\n'.repeat(50_000) })
    const other = await read(strict, 'strict')
    assert.deepEqual(other.value, JSON.parse(strict))
    assert.ok(other.pauses >= 3)
    await assert.rejects(read(`${strict}]`, 'strict'), /the end of the text at position 150008/)
  })

  test('depth and members are counted in steps, too', async () => {
    const { pauses } = await read(`{"a":1${' '.repeat(4_000_000)}}`, 'strict')
    assert.ok(pauses >= 4_000_000 / (256 * 1024), String(pauses))
  })
})
