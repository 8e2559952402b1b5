/** The meaning of random filters, against an oracle that knows neither lexer nor nodes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../../tests/property.ts'
import { compileFilter } from './evaluate.ts'
import { collection, type FieldMap } from './field-map.ts'
import { parseFilter } from './parse.ts'
import { printFilter } from './print.ts'
import { strictProfile } from './profile.ts'

interface Thing {
  readonly n: number | null
  readonly m: number | null
  readonly s: string | null
  readonly f: boolean | null
  readonly list: readonly { readonly n: number | null }[]
}

const things: FieldMap<Thing> = {
  fields: {
    n: { type: 'number', integer: true, read: (t) => t.n },
    m: { type: 'number', integer: true, read: (t) => t.m },
    s: { type: 'string', read: (t) => t.s },
    f: { type: 'boolean', read: (t) => t.f },
  },
  collections: {
    list: collection((t) => t.list, {
      fields: { n: { type: 'number', integer: true, read: (x: { n: number | null }) => x.n } },
    }),
  },
}

const smallNumber = fc.option(fc.integer({ min: -2, max: 2 }))
const smallText = fc.option(fc.constantFrom('', 'a', 'b', 'ab', "'"))
const thing: fc.Arbitrary<Thing> = fc.record({
  n: smallNumber,
  m: smallNumber,
  s: smallText,
  f: fc.option(fc.boolean()),
  list: fc.array(fc.record({ n: smallNumber }), { maxLength: 3 }),
})

/** A filter as fully parenthesized text, and its meaning as a closure. */
interface Meaning<V> {
  readonly text: string
  readonly value: (item: Thing) => V | null
}

const leafNumber: fc.Arbitrary<Meaning<number>> = fc.oneof(
  fc.constantFrom<Meaning<number>>(
    { text: 'n', value: (t) => t.n },
    { text: 'm', value: (t) => t.m },
    { text: 'list/$count', value: (t) => t.list.length },
    { text: 'length(s)', value: (t) => t.s?.length ?? null },
  ),
  fc.integer({ min: -3, max: 3 }).map((one) => ({ text: String(one), value: () => one })),
)

function both<A, B>(
  left: Meaning<A>,
  right: Meaning<A>,
  compute: (left: A, right: A) => B | null,
): (item: Thing) => B | null {
  return (item) => {
    const one = left.value(item)
    const other = right.value(item)
    return one === null || other === null ? null : compute(one, other)
  }
}

function numbers(depth: number): fc.Arbitrary<Meaning<number>> {
  if (depth === 0) return leafNumber
  const below = numbers(depth - 1)
  const pair = fc.tuple(below, below)
  return fc.oneof(
    leafNumber,
    below.map((one) => ({
      text: `(- ${one.text})`,
      value: (item: Thing) => {
        const value = one.value(item)
        return value === null ? null : -value
      },
    })),
    pair.map(([l, r]) => ({
      text: `(${l.text} add ${r.text})`,
      value: both(l, r, (a, b) => a + b),
    })),
    pair.map(([l, r]) => ({
      text: `(${l.text} sub ${r.text})`,
      value: both(l, r, (a, b) => a - b),
    })),
    pair.map(([l, r]) => ({
      text: `(${l.text} mul ${r.text})`,
      value: both(l, r, (a, b) => a * b),
    })),
    pair.map(([l, r]) => ({
      text: `(${l.text} div ${r.text})`,
      value: both(l, r, (a, b) =>
        b === 0 ? null : a / b < 0 ? Math.ceil(a / b) : Math.floor(a / b),
      ),
    })),
    pair.map(([l, r]) => ({
      text: `(${l.text} mod ${r.text})`,
      value: both(l, r, (a, b) => (b === 0 ? null : a % b)),
    })),
  )
}

const leafText: fc.Arbitrary<Meaning<string>> = fc.oneof(
  fc.constant<Meaning<string>>({ text: 's', value: (t) => t.s }),
  fc.constant<Meaning<string>>({
    text: "concat(s,'b')",
    value: (t) => (t.s === null ? null : `${t.s}b`),
  }),
  smallText
    .filter((one) => one !== null)
    .map((one) => ({ text: `'${one.replaceAll("'", "''")}'`, value: () => one })),
)

function compared<A extends string | number>(
  operand: fc.Arbitrary<Meaning<A>>,
): fc.Arbitrary<Meaning<boolean>> {
  const nullable = fc.oneof(
    { arbitrary: operand, weight: 6 },
    { arbitrary: fc.constant<Meaning<A>>({ text: 'null', value: () => null }), weight: 1 },
  )
  return fc.tuple(operand, nullable).chain(([l, r]) =>
    fc.constantFrom<Meaning<boolean>>(
      {
        text: `(${l.text} eq ${r.text})`,
        value: (t) => Object.is(l.value(t), r.value(t)) || l.value(t) === r.value(t),
      },
      { text: `(${r.text} ne ${l.text})`, value: (t) => l.value(t) !== r.value(t) },
      { text: `(${l.text} gt ${r.text})`, value: (t) => both(l, r, (a, b) => a > b)(t) ?? false },
      {
        text: `(${r.text} ge ${l.text})`,
        value: (t) => both(l, r, (a, b) => b >= a)(t) ?? false,
      },
      { text: `(${l.text} lt ${r.text})`, value: (t) => both(l, r, (a, b) => a < b)(t) ?? false },
      {
        text: `(${l.text} le ${r.text})`,
        value: (t) => both(l, r, (a, b) => a <= b)(t) ?? false,
      },
    ),
  )
}

function conditions(depth: number): fc.Arbitrary<Meaning<boolean>> {
  const leaf = fc.oneof(
    compared(numbers(1)),
    compared(leafText),
    fc.constantFrom<Meaning<boolean>>(
      { text: 'f', value: (t) => t.f },
      { text: '(f eq null)', value: (t) => t.f === null },
      { text: 'true', value: () => true },
      { text: "contains(s,'a')", value: (t) => t.s?.includes('a') ?? null },
      { text: "(s in ('a','b'))", value: (t) => t.s === 'a' || t.s === 'b' },
      { text: '(n in (1,null))', value: (t) => t.n === 1 || t.n === null },
      { text: 'list/any()', value: (t) => t.list.length > 0 },
      {
        text: 'list/any(x:x/n gt n)',
        value: (t) => t.list.some((x) => x.n !== null && t.n !== null && x.n > t.n),
      },
      {
        text: 'list/all(x:not (x/n eq m))',
        value: (t) => t.list.every((x) => x.n !== t.m),
      },
    ),
  )
  if (depth === 0) return leaf
  const below = conditions(depth - 1)
  const pair = fc.tuple(below, below)
  return fc.oneof(
    leaf,
    below.map((one) => ({
      text: `(not ${one.text})`,
      value: (item: Thing) => {
        const value = one.value(item)
        return value === null ? null : !value
      },
    })),
    // Kleene's tables, with null between false and true.
    pair.map(([l, r]) => ({
      text: `(${l.text} and ${r.text})`,
      value: (item: Thing) => rank(Math.min(ranked(l.value(item)), ranked(r.value(item)))),
    })),
    pair.map(([l, r]) => ({
      text: `(${l.text} or ${r.text})`,
      value: (item: Thing) => rank(Math.max(ranked(l.value(item)), ranked(r.value(item)))),
    })),
    pair.map(([l, r]) => ({
      text: `(${l.text} eq ${r.text})`,
      value: (item: Thing) => l.value(item) === r.value(item),
    })),
  )
}

function ranked(value: boolean | null): number {
  return value === null ? 1 : value ? 2 : 0
}

function rank(level: number): boolean | null {
  return level === 1 ? null : level === 2
}

test('a compiled filter gives what its meaning gives', () => {
  const seen = { true: 0, false: 0 }
  fc.assert(
    fc.property(conditions(3), fc.array(thing, { minLength: 1, maxLength: 5 }), (filter, items) => {
      const parsed = parseFilter(filter.text, strictProfile)
      assert.ok(parsed.ok, parsed.ok ? '' : `${filter.text}: ${parsed.message}`)
      const compiled = compileFilter(parsed.node, things)
      assert.ok(compiled.ok, compiled.ok ? '' : `${filter.text}: ${compiled.message}`)
      for (const one of items) {
        const want = filter.value(one) === true
        seen[want ? 'true' : 'false']++
        assert.equal(compiled.matches(one), want, `${filter.text} of ${JSON.stringify(one)}`)
      }
      // The printed form, with fewer parentheses, means the same.
      const again = parseFilter(printFilter(parsed.node), strictProfile)
      assert.ok(again.ok)
      const short = compileFilter(again.node, things)
      assert.ok(short.ok)
      for (const one of items) assert.equal(short.matches(one), compiled.matches(one))
    }),
    { numRuns: runsOf(2000) },
  )
  assert.ok(seen.true > 500 && seen.false > 500, JSON.stringify(seen))
})
