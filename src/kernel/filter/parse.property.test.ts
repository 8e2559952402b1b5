/** Parsing random input: it undoes printing, and any text gets an answer. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../../tests/property.ts'
import { compileFilter } from './evaluate.ts'
import type { FieldMap } from './field-map.ts'
import { builtInFunctions } from './functions.ts'
import type { BinaryOperator, FilterNode, Literal, LiteralNode, PathNode } from './nodes.ts'
import { type ParsedFilter, parseFilter } from './parse.ts'
import { printFilter } from './print.ts'
import { lenientProfile, strictProfile } from './profile.ts'

const profiles = [strictProfile, lenientProfile] as const

function withoutPositions(node: FilterNode): unknown {
  return JSON.parse(
    JSON.stringify(node, (key, value) => {
      if (key === 'position') return undefined
      // JSON has neither of these; `text` distinguishes them.
      return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
    }),
  )
}

const reserved = new Set(['not', 'true', 'false', 'null', 'INF', 'NaN'])
const name = fc
  .oneof(
    fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,5}$/),
    fc.constantFrom('any', 'eq', 'in', 'and', 'Überschrift', '$it', 'contains', 'has', 'INFO'),
  )
  .filter((one) => !reserved.has(one) && !reserved.has(one.toLowerCase()))

const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom("'", "''", "O'Neil", ' and ', '(', 'INF'),
)
const wellFormed = text.filter((one) => one.isWellFormed() && !one.includes('\0'))

const literal: fc.Arbitrary<Literal> = fc.oneof(
  fc.constant<Literal>({ type: 'null' }),
  fc.boolean().map((value): Literal => ({ type: 'boolean', value })),
  wellFormed.map((value): Literal => ({ type: 'string', value })),
  fc
    .oneof(
      fc.integer().map(String),
      fc.stringMatching(/^-?\d{1,20}(\.\d{1,5})?([eE][+-]?\d{1,2})?$/),
    )
    .map((one): Literal => ({ type: 'number', text: one, value: Number(one) })),
  fc.constantFrom<Literal>(
    { type: 'number', text: 'INF', value: Infinity },
    { type: 'number', text: '-INF', value: -Infinity },
    { type: 'number', text: 'NaN', value: Number.NaN },
  ),
  fc.uuid().map((one): Literal => ({ type: 'guid', text: one })),
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .chain((date) =>
      fc.constantFrom<Literal>(
        { type: 'dateTime', text: date.toISOString(), value: date.getTime() },
        {
          type: 'date',
          text: date.toISOString().slice(0, 10),
          value: Date.parse(date.toISOString().slice(0, 10)),
        },
      ),
    ),
  fc.nat(86_399_999).map((value): Literal => {
    return { type: 'time', text: new Date(value).toISOString().slice(11, 23), value }
  }),
  fc.nat(100_000).map((value): Literal => {
    return { type: 'duration', text: `PT${value}S`, value: value * 1000 }
  }),
  fc
    .tuple(
      name.filter((one) => !/^(any|eq|in|and|has|contains|\$it)$/i.test(one)),
      wellFormed,
    )
    .filter(([one]) => !/^(duration|guid|date|time|binary)/i.test(one))
    .filter(([one]) => !/^(or|ne|gt|ge|lt|le|add|sub|mul|div|divby|mod)$/i.test(one))
    .map(([typeName, value]): Literal => ({ type: 'enum', typeName, value })),
)
const literalNode = literal.map(
  (one): LiteralNode => ({ kind: 'literal', literal: one, position: 0 }),
)
const pathNode = fc
  .array(name, { minLength: 1, maxLength: 3 })
  .map((segments): PathNode => ({ kind: 'path', segments, position: 0 }))

const operators: readonly BinaryOperator[] = [
  'or',
  'and',
  'eq',
  'ne',
  'gt',
  'ge',
  'lt',
  'le',
  'add',
  'sub',
  'mul',
  'div',
  'divby',
  'mod',
]

function tree(depth: number): fc.Arbitrary<FilterNode> {
  const leaf: fc.Arbitrary<FilterNode> = fc.oneof(literalNode, pathNode)
  if (depth === 0) return leaf
  const below = tree(depth - 1)
  return fc.oneof(
    leaf,
    fc
      .tuple(fc.constantFrom<'not' | 'negate'>('not', 'negate'), below)
      .map(
        ([operator, operand]): FilterNode => ({ kind: 'unary', operator, operand, position: 0 }),
      ),
    fc
      .tuple(fc.constantFrom(...operators), below, below)
      .map(([operator, left, right]): FilterNode => {
        return { kind: 'binary', operator, left, right, position: 0 }
      }),
    fc.tuple(below, below).map(([left, right]): FilterNode => {
      return { kind: 'binary', operator: 'has', left, right, position: 0 }
    }),
    fc
      .tuple(below, fc.array(literalNode, { minLength: 1, maxLength: 4 }))
      .map(([operand, list]): FilterNode => ({ kind: 'in', operand, list, position: 0 })),
    fc.constantFrom(...Object.keys(builtInFunctions)).chain((called) => {
      const count = builtInFunctions[called]?.parameters.length ?? 0
      return fc.array(below, { minLength: count, maxLength: count }).map((list): FilterNode => {
        return { kind: 'call', name: called, arguments: list, position: 0 }
      })
    }),
    fc
      .tuple(fc.constantFrom<'any' | 'all'>('any', 'all'), pathNode, name, below)
      .filter(([, , variable]) => !variable.includes('$'))
      .map(([operator, path, variable, predicate]): FilterNode => {
        return { kind: 'lambda', operator, path, variable, predicate, position: 0 }
      }),
    pathNode.map((path): FilterNode => {
      return {
        kind: 'lambda',
        operator: 'any',
        path,
        variable: undefined,
        predicate: undefined,
        position: 0,
      }
    }),
  )
}

test('parsing what was printed gives the same tree, in both profiles', () => {
  fc.assert(
    fc.property(tree(3), fc.constantFrom(...profiles), (node, profile) => {
      const printed = printFilter(node)
      const parsed = parseFilter(printed, profile)
      assert.ok(parsed.ok, parsed.ok ? '' : `${printed}: ${parsed.message}`)
      assert.deepEqual(withoutPositions(parsed.node), withoutPositions(node), printed)
    }),
    { numRuns: runsOf(1000) },
  )
})

const fragment = fc.constantFrom(
  'a',
  'name',
  'x/y',
  ' ',
  ' eq ',
  ' and ',
  ' or ',
  'not ',
  ' in ',
  ' has ',
  '(',
  ')',
  ',',
  '/',
  ':',
  "'",
  "''",
  "'q'",
  '5',
  '-',
  '-5',
  '1.',
  '.5',
  'e',
  '2026-01-01',
  '2026-01-01T10:00:00Z',
  'T',
  'P1D',
  '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  "duration'P1D'",
  "datetime'2026-01-01'",
  "A.B'c'",
  'any(',
  'all(v:',
  'contains(',
  'tolower(',
  'true',
  'null',
  'INF',
  '$it',
  '$count',
  ';',
  '%',
  '\0',
  '\ud800',
  '💥',
  'a.b',
  '..',
  ' EQ ',
  ' AND ',
  'substring(',
  '=',
  '*',
  '\t',
  '\n',
  ' div ',
  ' add ',
)
const soup = fc.oneof(
  fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ maxLength: 200 }),
  // A printed tree with one part removed or added: nearly right.
  fc.tuple(tree(2), fc.nat(200), fc.nat(5), fragment).map(([node, at, length, put]) => {
    const whole = printFilter(node)
    return whole.slice(0, at) + put + whole.slice(at + length)
  }),
)

interface Anything {
  readonly a: number
}
const anything: FieldMap<Anything> = {
  lenient: true,
  fields: { a: { type: 'number', read: (item) => item.a } },
}

function assertRefusal(parsed: Exclude<ParsedFilter, { ok: true }>, whole: string): void {
  assert.ok(parsed.position >= 0 && parsed.position <= whole.length, `${parsed.position}`)
  assert.ok(parsed.message.isWellFormed() && !/[\0\n]/.test(parsed.message), parsed.message)
  assert.ok(parsed.message.length < 1000)
}

test('any text at all is a filter or a refusal with a place in the text', () => {
  let accepted = 0
  fc.assert(
    fc.property(soup, fc.constantFrom(...profiles), (whole, profile) => {
      const parsed = parseFilter(whole, profile)
      if (!parsed.ok) return assertRefusal(parsed, whole)
      accepted++
      const printed = printFilter(parsed.node)
      const again = parseFilter(printed, profile)
      assert.ok(again.ok, again.ok ? '' : `${whole} → ${printed}: ${again.message}`)
      assert.deepEqual(withoutPositions(again.node), withoutPositions(parsed.node), whole)
      const compiled = compileFilter(parsed.node, anything)
      if (compiled.ok) assert.equal(typeof compiled.matches({ a: 1 }), 'boolean')
      else assertRefusal(compiled, whole)
    }),
    { numRuns: runsOf(5000) },
  )
  assert.ok(accepted > 50, `only ${accepted} texts were filters: the property says little`)
})

test('text repeated to the limit and beyond is answered, with no deep recursion', () => {
  fc.assert(
    fc.property(fragment, fragment, fc.constantFrom(...profiles), (one, other, profile) => {
      const piece = `${one}${other}`
      for (const size of [8192, 9000]) {
        const whole = piece.repeat(Math.ceil(size / piece.length)).slice(0, size)
        const parsed = parseFilter(whole, profile)
        if (!parsed.ok) assertRefusal(parsed, whole)
      }
    }),
    { numRuns: runsOf(300) },
  )
})
