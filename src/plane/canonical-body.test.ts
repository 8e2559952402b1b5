/** Spellings of published clients that are accepted, and those that must stay as they are, to be refused. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Type from 'typebox'
import { canonicalBody, canonicalWords } from './canonical-body.ts'

const schema = Type.Object({
  kind: Type.Optional(Type.Enum(['Offline', 'Online'])),
  needed: Type.String(),
  text: Type.Optional(Type.String()),
  mode: Type.Optional(Type.Union([Type.Literal('Prefer'), Type.Literal('Require')])),
  empty: Type.Optional(Type.Union([Type.Null(), Type.Object({ kind: Type.Enum(['One']) })])),
  anything: Type.Optional(Type.Unknown()),
  list: Type.Optional(Type.Array(Type.Object({ verb: Type.Literal('Get') }))),
  map: Type.Optional(Type.Record(Type.String(), Type.Enum(['Yes', 'No']))),
  open: Type.Optional(Type.Object({}, { additionalProperties: true })),
})

describe('words of an enumeration', () => {
  test('take their declared case, wherever they stand', () => {
    assert.deepEqual(
      canonicalBody(schema, {
        kind: 'offline',
        mode: 'REQUIRE',
        empty: { kind: 'one' },
        list: [{ verb: 'GET' }, { verb: 'Get' }],
        map: { a: 'yes', b: 'no' },
      }),
      {
        kind: 'Offline',
        mode: 'Require',
        empty: { kind: 'One' },
        list: [{ verb: 'Get' }, { verb: 'Get' }],
        map: { a: 'Yes', b: 'No' },
      },
    )
  })

  test('that are unknown, or no words, stay for the check', () => {
    const given = { kind: 'sideways', mode: 1, text: 'OFFLINE', unknown: 'offline' }
    assert.equal(canonicalBody(schema, given), given)
  })

  test('that differ in case alone are distinguished by their case', () => {
    const both = Type.Object({ unit: Type.Enum(['m', 'M', 'k']) })
    for (const unit of ['m', 'M']) assert.deepEqual(canonicalBody(both, { unit }), { unit })
    assert.deepEqual(canonicalBody(both, { unit: 'K' }), { unit: 'k' })
  })
})

describe('null', () => {
  test('is an optional property left out', () => {
    assert.deepEqual(canonicalBody(schema, { kind: null, text: null, map: { a: null } }), {
      map: {},
    })
  })

  test('stays where it is a value, where it is required, and where nothing is declared', () => {
    const given = { needed: null, empty: null, anything: null, open: { a: null }, other: null }
    assert.equal(canonicalBody(schema, given), given)
  })

  test('stays in a PATCH, where it takes away', () => {
    assert.deepEqual(canonicalWords(schema, { kind: 'ONLINE', text: null }), {
      kind: 'Online',
      text: null,
    })
  })
})

test('names of members are data, whatever they are called', () => {
  const given = JSON.parse('{"kind":"online","__proto__":{"kind":"x"}}') as object
  const settled = canonicalBody(schema, given) as object
  assert.deepEqual(Object.keys(settled), ['kind', '__proto__'])
})

describe('scalars written as another type', () => {
  const schema = Type.Object({
    port: Type.Integer(),
    cpu: Type.Optional(Type.Number()),
    on: Type.Optional(Type.Boolean()),
    variables: Type.Optional(Type.Array(Type.Object({ value: Type.String() }))),
    kind: Type.Optional(Type.Enum(['One'])),
    any: Type.Optional(Type.Unknown()),
  })
  const written = { port: '80', cpu: '1.5', on: 'True', variables: [{ value: 3 }, { value: true }] }

  test('are taken where the version is lenient', () => {
    assert.deepEqual(canonicalBody(schema, { ...written, kind: 'one', any: '5' }, 'lenient'), {
      port: 80,
      cpu: 1.5,
      on: true,
      variables: [{ value: '3' }, { value: 'true' }],
      kind: 'One',
      any: '5',
    })
  })

  test('stay elsewhere, and where they are no scalar of that type', () => {
    assert.equal(canonicalBody(schema, written), written)
    const wrong = { port: 'http', cpu: '1e999', on: 'yes', variables: [{ value: {} }] }
    assert.equal(canonicalBody(schema, wrong, 'lenient'), wrong)
  })
})
