/** Laws of the amounts, on random documents: shares sum, totals do not depend on order or on the way. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { allocate } from './allocate.ts'
import { Decimal, roundTo, zero } from './decimals.ts'
import { type DocumentLine, documentAmounts, totalsOf } from './document.ts'
import { discountAmountOf, discountPercentOf, grossOf, lineAmountsOf } from './line.ts'
import { cents, emptyGroup, minus, plus, shareOf } from './tax-group.ts'

const precision = fc.constantFrom('0.01', '0.001', '1', '0.05').map((text) => new Decimal(text))
const money = (of: Decimal) => fc.integer({ min: 0, max: 1_000_000 }).map((n) => of.times(n))
const terms = fc.record({ precision, pricesIncludeTax: fc.boolean() })
const percents = { a: new Decimal(5), b: new Decimal('6.0002'), c: zero, d: new Decimal(25) }
const lines = (of: Decimal) =>
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

test('an allocation sums to its amount, exactly', () => {
  fc.assert(
    fc.property(
      precision.chain((of) =>
        fc.tuple(fc.constant(of), money(of), fc.array(money(of), { minLength: 1 })),
      ),
      ([of, amount, weights]) => {
        const shares = allocate(amount, weights, of)
        const wanted = weights.every((one) => one.isZero()) ? zero : amount
        assert.ok(shares.reduce((sum, one) => sum.plus(one), zero).eq(wanted))
      },
    ),
  )
})

test('what is over goes to the last part that has a weight, and to none behind it', () => {
  const weights = ['1004.25', '16778.55', '0'].map((text) => new Decimal(text))
  const shares = allocate(new Decimal('8891.40'), weights, new Decimal('0.05'))
  assert.deepEqual(shares.map(String), ['502.15', '8389.25', '0'])
})

test('totals do not depend on the order of lines, and the running way gives the same', () => {
  fc.assert(
    fc.property(
      terms
        .chain((one) => fc.tuple(fc.constant(one), lines(one.precision)))
        .chain(([one, given]) =>
          fc.tuple(
            fc.constant(one),
            fc.constant(given),
            fc.shuffledSubarray(given, { minLength: given.length }),
          ),
        ),
      ([one, given, shuffled]) => {
        const left = totalsOf(documentAmounts(given, zero, one).groups.values())
        const running = new Map(given.map(({ taxKey }) => [taxKey, emptyGroup]))
        for (const line of shuffled) {
          const group = running.get(line.taxKey) ?? emptyGroup
          const share = shareOf(group, line.lineAmount, zero, line.taxPercent, one)
          running.set(line.taxKey, plus(group, share))
        }
        assert.deepEqual(JSON.stringify(totalsOf(running.values())), JSON.stringify(left))
        const right = totalsOf(documentAmounts(shuffled, zero, one).groups.values())
        assert.equal(JSON.stringify(right), JSON.stringify(left))
        for (const line of given) {
          const group = running.get(line.taxKey) ?? emptyGroup
          const over = cents(group, line.taxPercent, one)
          assert.ok(over.net.isZero() && over.including.isZero(), 'settled')
        }
      },
    ),
  )
})

test('the invoice discount is spread whole, and taking every line out leaves nothing', () => {
  fc.assert(
    fc.property(
      terms.chain((one) =>
        fc.tuple(fc.constant(one), lines(one.precision), fc.integer({ min: 0, max: 100 })),
      ),
      ([one, given, part]) => {
        const base = given.reduce(
          (sum, line) => (line.allowsInvoiceDiscount ? sum.plus(line.lineAmount) : sum),
          zero,
        )
        const discount = roundTo(base.times(part).div(100), one.precision)
        const { shares, groups } = documentAmounts(given, discount, one)
        assert.ok(totalsOf(groups.values()).discountAmount.eq(discount))
        let left = [...groups.values()].reduce(plus, emptyGroup)
        for (const share of shares) left = minus(left, share)
        assert.ok(Object.values(left).every((sum: Decimal) => sum.isZero()))
      },
    ),
  )
})

test('halves go away from zero, and percents come back', () => {
  const exact = { precision: new Decimal('0.01'), pricesIncludeTax: false }
  assert.equal(roundTo(new Decimal('8.235'), exact.precision).toString(), '8.24')
  assert.equal(roundTo(new Decimal('-8.235'), exact.precision).toString(), '-8.24')
  const gross = grossOf({ quantity: new Decimal(3), unitPrice: new Decimal('9.99') }, exact)
  assert.equal(discountAmountOf(gross, new Decimal('12.5'), exact).toString(), '3.75')
  assert.equal(discountPercentOf(gross, new Decimal('3.75')).toString(), '12.51251')
  const figures = {
    quantity: new Decimal(3),
    unitPrice: new Decimal('54.9'),
    discountPercent: zero,
    discountAmount: zero,
    taxPercent: new Decimal(5),
  }
  assert.equal(lineAmountsOf(figures, exact).totalTaxAmount.toString(), '8.24')
})
