import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { serverTypes } from './server-values.ts'

const read = (type: number, text: string): unknown => serverTypes.getTypeParser(type, 'text')(text)
const texts = 1009
const json = 3802

test('values are read by their type, and are text where it is another', () => {
  assert.equal(read(16, 't'), true)
  assert.equal(read(16, 'f'), false)
  assert.equal(read(23, '-7'), -7)
  assert.equal(read(701, '1.5e-3'), 0.0015)
  assert.deepEqual(read(json, '{"a": ["[", {}]}'), { a: ['[', {}] })
  assert.equal(read(20, '9007199254740993'), '9007199254740993')
  // Bytes, a date, an interval, a circle, lists of bytes: the driver has readers for them that never end, or nearly.
  for (const type of [17, 1082, 1184, 1186, 718, 1001]) assert.equal(read(type, '\\a'), '\\a')
})

test('a list of texts is read as the server writes it', () => {
  const quote = (text: string | null): string =>
    text === null ? 'NULL' : `"${text.replace(/["\\]/g, (one) => `\\${one}`)}"`
  const list = fc.array(fc.oneof(fc.string(), fc.constantFrom(null, 'NULL', '{', '}', '\\', '"')))
  fc.assert(
    fc.property(list, (items) => {
      assert.deepEqual(read(texts, `{${items.map(quote).join(',')}}`), items)
    }),
  )
  assert.deepEqual(read(texts, '{a,b c,NULL}'), ['a', 'b c', null])
  assert.deepEqual(read(texts, '[2:3]={a,b}'), ['a', 'b'])
  assert.deepEqual(read(texts, '{}'), [])
})

test('whatever a server sends ends in a value or an error', () => {
  for (const text of ['', '{', '{"', '{"a', '{"a\\', '{"a"b}', '{{a},{b}}', 'a', '{a', '}']) {
    assert.throws(() => read(texts, text), RangeError, text)
  }
  const any = fc.string({ unit: fc.constantFrom('{', '}', '"', '\\', ',', 'a', '[') })
  fc.assert(
    fc.property(any, (text) => {
      try {
        assert.ok(Array.isArray(read(texts, text)))
      } catch (error) {
        assert.ok(error instanceof RangeError)
      }
    }),
  )
  const long = 5 * 2 ** 20
  assert.throws(() => read(texts, `{${','.repeat(long)}}`), RangeError)
  assert.throws(() => read(json, `"${'a'.repeat(long)}"`), RangeError)
  assert.throws(() => read(json, `[${'[],'.repeat(20_000)}[]]`), RangeError)
  assert.throws(() => read(23, '1'.repeat(100)), RangeError)
  assert.throws(() => serverTypes.getTypeParser(texts, 'binary')('{}'), RangeError)
  assert.equal(Object.keys(Object(read(json, `{"a":"${'['.repeat(20_000)}"}`))).length, 1)
})
