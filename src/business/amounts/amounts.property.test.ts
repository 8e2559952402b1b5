/**
 * Laws of amounts, on random documents: shares add up, and totals depend neither on the order of lines nor on how
 * they were calculated.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runsOf } from '../../../tests/property.ts'
import { allocate } from './allocate.ts'
import { Decimal } from './decimals.ts'
import { type DocumentLine, documentAmounts, totalsOf } from './document.ts'
import {
  discountAmountOf,
  discountPercentOf,
  grossOf,
  type LineFigures,
  lineAmountsOf,
} from './line.ts'
import { cents, emptyGroup, minus, plus, shareOf } from './tax-group.ts'
import { one, ratio, roundTo } from './units.ts'

/** Rounding precisions of 0.01, 0.001, 1 and 0.05. */
const precision = fc.constantFrom(1_000, 100, 100_000, 5_000)
const money = (of: number) => fc.integer({ min: 0, max: 1_000_000 }).map((n) => of * n)
const terms = fc.record({ precision, pricesIncludeTax: fc.boolean() })
const percents = { a: 500_000, b: 600_020, c: 0, d: 2_500_000 }
const lines = (of: number) =>
  fc.array(
    fc
      .record({
        lineAmount: money(of),
        taxKey: fc.constantFrom('a' as const, 'b' as const, 'c' as const, 'd' as const),
        allowsInvoiceDiscount: fc.boolean(),
      })
      .map((line): DocumentLine => ({ ...line, taxPercent: percents[line.taxKey] })),
    { maxLength: 12 },
  )
const stored = fc.oneof(
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.integer({ min: -100_000_000, max: 100_000_000 }),
  fc.integer({ min: -1e15, max: 1e15 }),
)

function decimalRatio(amount: number, part: number, whole: number, unit: number): number {
  const below = new Decimal(whole).times(unit)
  const multiple = new Decimal(amount).times(part).div(below).toDecimalPlaces(0)
  return multiple.times(unit).toNumber() + 0
}

test('a ratio is that of the decimal library', () => {
  fc.assert(
    fc.property(stored, stored, stored, precision, (amount, part, whole, unit) => {
      fc.pre(whole !== 0)
      assert.equal(ratio(amount, part, whole, unit), decimalRatio(amount, part, whole, unit))
    }),
    { numRuns: runsOf(20_000) },
  )
  // Halves of both signs.
  for (const [amount, whole] of [
    [1, 2],
    [-1, 2],
    [1, -2],
    [-1, -2],
    [3, 2],
    [-3, 2],
  ] as const) {
    assert.equal(ratio(amount, 1, whole, 1), decimalRatio(amount, 1, whole, 1))
  }
})

test('figures of a line are those of decimals', () => {
  const text = (of: number): InstanceType<typeof Decimal> => new Decimal(of).div(one)
  const rounded = (value: InstanceType<typeof Decimal>, unit: number): number =>
    value.div(text(unit)).toDecimalPlaces(0).times(unit).toNumber() + 0
  fc.assert(
    fc.property(
      terms,
      fc.integer({ min: -10_000_000, max: 10_000_000 }),
      fc.integer({ min: 0, max: 1_000_000_000 }),
      fc.constantFrom(...Object.values(percents)),
      fc.integer({ min: 0, max: 10_000_000 }),
      (how, quantity, unitPrice, taxPercent, percent) => {
        const { precision: unit, pricesIncludeTax } = how
        const gross = rounded(text(quantity).times(text(unitPrice)), unit)
        const discount = rounded(text(gross).times(text(percent)).div(100), unit)
        const left = text(gross - discount)
        const factor = text(taxPercent).div(100).plus(1)
        assert.equal(grossOf(quantity, unitPrice, how), gross)
        assert.equal(discountAmountOf(gross, percent, how), discount)
        const found = lineAmountsOf(
          { quantity, unitPrice, discountAmount: discount, taxPercent },
          how,
        )
        const excluding = pricesIncludeTax ? rounded(left.div(factor), unit) : gross - discount
        const including = pricesIncludeTax ? gross - discount : rounded(left.times(factor), unit)
        assert.deepEqual(found, {
          lineAmount: gross - discount,
          amountExcludingTax: excluding,
          totalTaxAmount: including - excluding,
          amountIncludingTax: including,
        })
      },
    ),
  )
})

test('an allocation sums to its amount, exactly', () => {
  fc.assert(
    fc.property(
      precision.chain((of) =>
        fc.tuple(fc.constant(of), money(of), fc.array(money(of), { minLength: 1 })),
      ),
      ([of, amount, weights]) => {
        const shares = allocate(amount, weights, of)
        const wanted = weights.every((weight) => weight === 0) ? 0 : amount
        assert.equal(
          shares.reduce((sum, share) => sum + share, 0),
          wanted,
        )
      },
    ),
  )
})

test('a share is what the published carry gives, but for halves, which it may owe to the next line', () => {
  fc.assert(
    fc.property(
      precision.chain((of) =>
        fc.tuple(fc.constant(of), money(of), fc.array(money(of), { minLength: 1, maxLength: 9 })),
      ),
      ([of, amount, weights]) => {
        const total = weights.reduce((sum, weight) => sum + weight, 0)
        fc.pre(total > 0)
        const shares = allocate(amount, weights, of)
        let upto = 0
        let carry = new Decimal(0)
        for (const [at, weight] of weights.entries()) {
          upto += weight
          // Both rounded an exact half up before this line, so their next results may differ.
          if (new Decimal(amount).times(upto).times(2).mod(new Decimal(total).times(of)).isZero())
            return
          carry = carry.plus(new Decimal(amount).times(weight).div(total))
          const share = carry.div(of).toDecimalPlaces(0).times(of)
          carry = carry.minus(share)
          assert.equal(shares[at], share.toNumber() + 0)
        }
      },
    ),
  )
})

test('what is over goes to the last part that has a weight, and to none behind it', () => {
  assert.deepEqual(
    allocate(889_140_000, [100_425_000, 1_677_855_000, 0], 5_000),
    [50_215_000, 838_925_000, 0],
  )
})

test('totals do not depend on the order of lines, and the running way gives the same', () => {
  fc.assert(
    fc.property(
      terms
        .chain((how) => fc.tuple(fc.constant(how), lines(how.precision)))
        .chain(([how, given]) =>
          fc.tuple(
            fc.constant(how),
            fc.constant(given),
            fc.shuffledSubarray(given, { minLength: given.length }),
          ),
        ),
      ([how, given, shuffled]) => {
        const left = totalsOf(documentAmounts(given, 0, how).groups.values())
        const running = new Map(given.map(({ taxKey }) => [taxKey, emptyGroup]))
        for (const line of shuffled) {
          const group = running.get(line.taxKey) ?? emptyGroup
          const share = shareOf(
            group,
            { lineAmount: line.lineAmount, invoiceDiscount: 0, taxPercent: line.taxPercent },
            how,
          )
          running.set(line.taxKey, plus(group, share))
        }
        assert.deepEqual(totalsOf(running.values()), left)
        const right = totalsOf(documentAmounts(shuffled, 0, how).groups.values())
        assert.deepEqual(right, left)
        for (const line of given) {
          const group = running.get(line.taxKey) ?? emptyGroup
          const over = cents(group, line.taxPercent, how)
          assert.ok(over.net === 0 && over.including === 0, 'settled')
        }
      },
    ),
  )
})

test('the invoice discount is spread whole, and taking every line out leaves nothing', () => {
  fc.assert(
    fc.property(
      terms.chain((how) =>
        fc.tuple(fc.constant(how), lines(how.precision), fc.integer({ min: 0, max: 100 })),
      ),
      ([how, given, part]) => {
        const base = given.reduce(
          (sum, line) => (line.allowsInvoiceDiscount ? sum + line.lineAmount : sum),
          0,
        )
        const discount = roundTo((base / 100) * part, how.precision)
        const { shares, groups } = documentAmounts(given, discount, how)
        assert.equal(totalsOf(groups.values()).discountAmount, discount)
        let left = [...groups.values()].reduce(plus, emptyGroup)
        for (const share of shares) left = minus(left, share)
        assert.deepEqual(left, emptyGroup)
      },
    ),
  )
})

test('halves go away from zero, and percents come back', () => {
  const exact = { precision: 1_000, pricesIncludeTax: false }
  assert.equal(roundTo(823_500, 1_000), 824_000)
  assert.equal(roundTo(-823_500, 1_000), -824_000)
  const gross = grossOf(300_000, 999_000, exact)
  assert.equal(discountAmountOf(gross, 1_250_000, exact), 375_000)
  assert.equal(discountPercentOf(gross, 375_000), 1_251_251)
  const figures: LineFigures = {
    quantity: 300_000,
    unitPrice: 5_490_000,
    discountAmount: 0,
    taxPercent: 500_000,
  }
  assert.equal(lineAmountsOf(figures, exact).totalTaxAmount, 824_000)
})
