/** Whole numbers of 64 bits, read and written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { exactJsonText, exactNumber, parseExactJson, writeExactIntegers } from './exact-json.ts'

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

test('of a number with very many digits none is looked at one by one', () => {
  const { BigInt: own } = globalThis
  let longest = 0
  globalThis.BigInt = new Proxy(own, {
    apply(target, self, [given]: [string]) {
      longest = Math.max(longest, String(given).length)
      return Reflect.apply(target, self, [given])
    },
  })
  try {
    const many = '9'.repeat(100_000)
    assert.deepEqual(parseExactJson(`{"a":${many},"b":-9223372036854775808}`), {
      a: Number.POSITIVE_INFINITY,
      b: -9223372036854775808n,
    })
  } finally {
    globalThis.BigInt = own
  }
  assert.equal(longest, '-9223372036854775808'.length)
})

test('numbers are found wherever they stand, and digits of a text are none', () => {
  for (const before of ['', ' ', '[', '[1,', '[ -', '{"a":', '{"a" :\n ']) {
    const text = `${before}9007199254740993`
    const whole = before.includes('{') ? `${text}}` : before.includes('[') ? `${text}]` : text
    assert.match(exactJsonText(parseExactJson(whole)), /9007199254740993/, whole)
  }
  assert.equal(parseExactJson('"9007199254740993"'), '9007199254740993')
})

declare function plainly(this: unknown, name: string, value: unknown): unknown

function bySource(this: unknown, _name: string, value: unknown, { source = '' } = {}): unknown {
  return typeof value === 'number' ? exactNumber(source, value) : value
}

test('is what the parser makes with the source of each number, without it', (t) => {
  const { parse } = JSON
  const scalar = fc.oneof(
    fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => JSON.stringify(one)),
    fc.constantFrom('1e-9007199254740993', '0.9007199254740993', '9007199254740993e1', 'null'),
    fc.string().map((one) => JSON.stringify(one)),
    fc.constantFrom('\\', '"', '\\"', '').map((one) => JSON.stringify(`${one},9007199254740993`)),
  )
  const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', '1000', ',9007199254740993'))
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.array(tie('json')).map((all) => `[${all.join(' , ')}]`),
      fc
        .array(fc.tuple(name, tie('json')))
        .map((all) => `{${all.map(([key, one]) => `${JSON.stringify(key)}: ${one}`).join()}}`),
    ),
  }))
  const watched = t.mock.method(JSON, 'parse')
  fc.assert(
    fc.property(json, (text) => {
      assert.deepEqual(parseExactJson(text), parse(text, bySource as typeof plainly))
    }),
  )
  assert.deepEqual(
    watched.mock.calls.filter((call) => call.arguments.length > 1),
    [],
  )
})

test('the platform writes bigints too, once it was said', () => {
  writeExactIntegers()
  assert.equal(JSON.stringify({ a: [9007199254740993n] }), '{"a":[9007199254740993]}')
})
