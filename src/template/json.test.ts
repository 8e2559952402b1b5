/** JSON with positions: it accepts what JSON.parse accepts, and refuses at the wrong character. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../tests/property.ts'
import { jsonLimits, readJson } from './json.ts'

test('takes what JSON.parse takes, with objects that have no prototype', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, wide) => {
      const text = wide ? JSON.stringify(value, null, 2) : JSON.stringify(value)
      const read = readJson(text)
      assert.ok(read.ok)
      assert.equal(JSON.stringify(read.value.value), JSON.stringify(JSON.parse(text)))
    }),
  )
  const read = readJson('{"__proto__": {"a": 1}, "constructor": 2}')
  assert.ok(read.ok)
  const { value } = read.value
  assert.ok(typeof value === 'object' && value !== null)
  assert.equal(Object.getPrototypeOf(value), null)
  assert.deepEqual(Object.keys(value), ['__proto__', 'constructor'])
})

test('any text at all: a value or a place, never a throw', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    'a',
    ':',
    ',',
    '1',
    '\\',
    '/',
    '*',
    '\n',
    '-',
    'null',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join('')
      const read = readJson(text)
      if (read.ok) return
      const lines = text.split('\n')
      for (const fault of read.faults) {
        assert.ok(fault.line >= 1 && fault.line <= lines.length)
        assert.ok(fault.column >= 1 && fault.column <= (lines[fault.line - 1] ?? '').length + 1)
      }
    }),
    { numRuns: runsOf(2000) },
  )
})

const refused: readonly (readonly [text: string, line: number, column: number, message: RegExp])[] =
  [
    ['', 1, 1, /expected a value/],
    ['{"a": 1,\n  b: 2}', 2, 3, /name in quotes/],
    ['{"a": 1 "b"}', 1, 9, /',' or '}'/],
    ['[1, 2', 1, 6, /',' or ']'/],
    ['[01]', 1, 3, /',' or ']'/],
    ['["x]', 1, 2, /no closing quote/],
    ['["\\q"]', 1, 5, /escape/],
    ['[1] 2', 1, 5, /the end/],
    ['/* x', 1, 1, /no end/],
    ['[1e999]', 1, 7, /too large/],
    ['{"a": {"b": 1,\n "b": 2}}', 2, 2, /'b' is given twice/],
    [`${'['.repeat(200)}`, 1, jsonLimits.depth + 2, /deep/],
  ]
for (const [text, line, column, message] of refused) {
  test(`refuses ${JSON.stringify(text.slice(0, 30))} at ${line}:${column}`, () => {
    const read = readJson(text)
    assert.ok(!read.ok)
    const [fault] = read.faults
    assert.match(fault?.message ?? '', message)
    assert.deepEqual([fault?.line, fault?.column], [line, column])
  })
}

test('all names given twice are reported at once, with their paths', () => {
  const read = readJson('{"a": {"x": 1, "x": 2}, "b": [{"y": 1, "y": 2}]}')
  assert.ok(!read.ok)
  assert.deepEqual(
    read.faults.map((fault) => fault.keys),
    [
      ['a', 'x'],
      ['b', 0, 'y'],
    ],
  )
})

test('finds places again: of values, inside strings past escapes, and of the nearest ancestor', () => {
  const text = '// top\n{ "a": [1,\n   "x\\u0041\\ny"] /* c */ }'
  const read = readJson(text)
  assert.ok(read.ok)
  const { locate } = read.value
  assert.deepEqual(locate([]), { line: 2, column: 1 })
  assert.deepEqual(locate(['a', 0]), { line: 2, column: 9 })
  assert.deepEqual(locate(['a', 1]), { line: 3, column: 4 })
  assert.deepEqual(locate(['a', 1], 2), { line: 3, column: 12 })
  assert.deepEqual(locate(['a', 1, 'gone', 3]), { line: 3, column: 4 })
})

test('refuses a text that is too long before it reads it', () => {
  const read = readJson(' '.repeat(jsonLimits.characters + 1))
  assert.ok(!read.ok)
  assert.match(read.faults[0]?.message ?? '', /characters/)
})
