/** Merge patch: the examples of RFC 7396 (appendix A) and the algebra behind them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../tests/property.ts'
import { isJsonObject, type JsonObject, mergePatch, sameJson } from './patch.ts'

test('the examples of the RFC', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ]
  for (const [target, patch, want] of table) {
    assert.deepEqual(mergePatch(JSON.parse(target), JSON.parse(patch)), JSON.parse(want), patch)
  }
})

const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1, 'x', ''),
    fc.array(tie('value'), { maxLength: 2 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'toString'), tie('value'), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
})).value

function copy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

test('merging is idempotent and changes neither side', () => {
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const before = JSON.stringify([target, patch])
      const once = mergePatch(target, patch)
      assert.ok(sameJson(mergePatch(once, patch), once))
      assert.equal(JSON.stringify([target, patch]), before)
    }),
    { numRuns: runsOf(1000) },
  )
})

test('an empty patch keeps an object; a patch that is no object replaces', () => {
  fc.assert(
    fc.property(json, json, (target, patch) => {
      assert.deepEqual(mergePatch(target, {}), isJsonObject(target) ? target : {})
      if (!isJsonObject(patch)) assert.deepEqual(mergePatch(target, patch), patch)
    }),
  )
})

test('null removes, a value stays, and what is not named is untouched', () => {
  fc.assert(
    fc.property(json.filter(isJsonObject), json.filter(isJsonObject), (target, patch) => {
      const merged = mergePatch(target, patch)
      assert.ok(isJsonObject(merged))
      for (const [key, value] of Object.entries(patch)) {
        if (value === null) assert.ok(!Object.hasOwn(merged, key), key)
        else if (!isJsonObject(value)) assert.deepEqual(merged[key], value)
      }
      for (const [key, value] of Object.entries(target)) {
        if (!Object.hasOwn(patch, key)) assert.deepEqual(merged[key], value)
      }
      const names = new Set([...Object.keys(target), ...Object.keys(patch)])
      for (const key of Object.keys(merged)) assert.ok(names.has(key), key)
    }),
    { numRuns: runsOf(1000) },
  )
})

test('patches that name different properties commute', () => {
  fc.assert(
    fc.property(json, json.filter(isJsonObject), json.filter(isJsonObject), (target, one, all) => {
      const other = Object.fromEntries(
        Object.entries(all).filter(([key]) => !Object.hasOwn(one, key)),
      )
      const forth = mergePatch(mergePatch(target, one), other)
      const back = mergePatch(mergePatch(target, other), one)
      assert.ok(sameJson(forth, back))
    }),
    { numRuns: runsOf(1000) },
  )
})

test('no key reaches a prototype', () => {
  const patch: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}')
  const merged = mergePatch({}, patch)
  assert.ok(isJsonObject(merged))
  assert.equal(merged['polluted'], undefined)
  assert.ok(Object.hasOwn(merged, '__proto__'))
  assert.equal(({} as JsonObject)['polluted'], undefined)
})

test('sameJson is equality of JSON values', () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      assert.ok(sameJson(one, copy(one)))
      assert.equal(sameJson(one, other), canonical(one) === canonical(other))
      assert.equal(sameJson(one, other), sameJson(other, one))
    }),
    { numRuns: runsOf(1000) },
  )
  assert.ok(sameJson({ a: undefined, b: 1 }, { b: 1 }), 'undefined is a property not there')
  assert.ok(!sameJson({ a: null }, {}))
  assert.ok(!sameJson([], {}))
  assert.ok(!sameJson({ toString: 1 }, { x: 1 }))
})

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(',')}}`
}
