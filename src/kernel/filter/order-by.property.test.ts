/** Orders: their meaning on random items, and that any text gets an answer. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../tests/property.ts'
import { type FieldMap, fieldsOfRows } from './field-map.ts'
import { compileOrderBy, parseOrderBy } from './order-by.ts'
import { lenientProfile, strictProfile } from './profile.ts'

interface Thing {
  readonly n: number | null
  readonly m: number | null
  readonly s: string | null
}

const things: FieldMap<Thing> = {
  fields: {
    n: { type: 'number', read: (t) => t.n },
    m: { type: 'number', read: (t) => t.m },
    s: { type: 'string', read: (t) => t.s },
    'at/text': { type: 'string', ignoreCase: true, read: (t) => t.s },
    ...fieldsOfRows<Thing, string>(
      { of: (t) => [...(t.s ?? '')], together: false },
      { letter: { type: 'string', read: (letter) => letter } },
    ),
  },
}

const thing: fc.Arbitrary<Thing> = fc.record({
  n: fc.option(fc.integer({ min: -2, max: 2 })),
  m: fc.option(fc.integer({ min: -2, max: 2 })),
  s: fc.option(fc.constantFrom('', 'a', 'b', 'ab')),
})

test('any text at all is an order or a refusal with a place in the text', () => {
  const fragment = fc.constantFrom(
    'a',
    'n',
    '/',
    ',',
    ' ',
    ' asc',
    ' desc',
    '5',
    "'",
    '(',
    '\0',
    '.',
  )
  const soup = fc.oneof(
    fc.array(fragment, { maxLength: 12 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 30 }),
  )
  let accepted = 0
  fc.assert(
    fc.property(soup, fc.constantFrom(strictProfile, lenientProfile), (whole, profile) => {
      const parsed = parseOrderBy(whole, profile)
      if (parsed.ok) accepted++
      else assert.ok(parsed.position >= 0 && parsed.position <= whole.length)
    }),
    { numRuns: 2000 },
  )
  assert.ok(accepted > 20, `only ${accepted} texts were orders`)
})

test('ordering is by every field in turn, stable, with null first going up', () => {
  const direction = fc.constantFrom('asc', 'desc', '')
  const field = fc.constantFrom<'n' | 'm' | 's'>('n', 'm', 's')
  const term = fc.tuple(field, direction)
  fc.assert(
    fc.property(
      fc.array(thing, { maxLength: 20 }),
      fc.array(term, { minLength: 1, maxLength: 3 }),
      (items, terms) => {
        const written = terms.map(([one, way]) => `${one} ${way}`.trim()).join(', ')
        const parsed = parseOrderBy(written, strictProfile)
        assert.ok(parsed.ok)
        const compiled = compileOrderBy(parsed.terms, things)
        assert.ok(compiled.ok)
        const sorted = items.toSorted(compiled.compare)
        for (let at = 1; at < sorted.length; at++) {
          const before = sorted[at - 1] as Thing // at >= 1
          const after = sorted[at] as Thing // at < length
          const differing = terms.find(([one]) => before[one] !== after[one])
          if (differing === undefined) {
            assert.ok(items.indexOf(before) < items.indexOf(after), 'ties keep their order')
            continue
          }
          const [one, way] = differing
          const [low, high] = way === 'desc' ? [after[one], before[one]] : [before[one], after[one]]
          assert.ok(low === null || (high !== null && low < high), `${low} before ${high}`)
        }
      },
    ),
  )
})

test('orders on examples', () => {
  const items: readonly Thing[] = [
    { n: 1, m: null, s: 'B' },
    { n: 2, m: null, s: 'a' },
  ]
  const first = (text: string, profile = strictProfile): number | null | undefined => {
    const parsed = parseOrderBy(text, profile)
    assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
    const compiled = compileOrderBy(parsed.terms, things)
    assert.ok(compiled.ok, compiled.ok ? '' : compiled.message)
    return items.toSorted(compiled.compare)[0]?.n
  }
  assert.equal(first('s'), 1)
  assert.equal(first('at/text'), 2)
  assert.equal(first('m desc,n desc'), 2)
  assert.equal(first('at.text DESC', lenientProfile), 1)
})

test('what cannot be ordered by is refused where it stands', () => {
  const table: readonly (readonly [string, number, RegExp])[] = [
    ['', 0, /the name of a field, found the end/],
    ['n,', 2, /the name of a field/],
    ['n up', 2, /"asc", "desc", "," or the end/],
    ['n asc desc', 6, /"," or the end/],
    ['n DESC', 2, /"asc", "desc"/],
    ['n add 1', 2, /"asc"/],
    ['length(s)', 6, /"asc"/],
    ['n/', 2, /the name of a field/],
    ["'n'", 0, /the name of a field, found the string/],
    [Array(11).fill('n').join(','), 20, /at most 10 fields/],
  ]
  for (const [text, position, says] of table) {
    const parsed = parseOrderBy(text, strictProfile)
    assert.ok(!parsed.ok, text)
    assert.match(parsed.message, says, text)
    assert.equal(parsed.position, position, text)
  }
  for (const name of ['nope', 'letter', 'toString']) {
    const parsed = parseOrderBy(`n, ${name}`, strictProfile)
    assert.ok(parsed.ok)
    const compiled = compileOrderBy(parsed.terms, things)
    assert.ok(!compiled.ok)
    assert.equal(compiled.position, 3)
    assert.match(compiled.message, /a field to order by \(at\/text, m, n, s\)/)
  }
})
