/** Amounts add up, round as the currency does, and can be read back as they were written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Decimal } from 'decimal.js'
import { fc, runsOf } from '../../../../../tests/property.ts'
import { decimalsOfCurrency } from './currencies.ts'
import {
  amountMax,
  chargeOf,
  discounted,
  fromMinor,
  plainMinor,
  showMinor,
  toMinor,
} from './money.ts'

const currency = fc.constantFrom('USD', 'EUR', 'JPY', 'KWD', 'CLF')
const decimal = (max: number, places: number) =>
  fc
    .tuple(fc.integer({ min: -max, max }), fc.integer({ min: 0, max: 10 ** places - 1 }))
    .map(([whole, part]) => new Decimal(`${whole}.${String(part).padStart(places, '0')}`))

test('an amount of the currency’s precision survives the way to the store and back', () => {
  fc.assert(
    fc.property(currency, decimal(1_000_000, 6), (code, value) => {
      const exact = value.toDecimalPlaces(decimalsOfCurrency(code))
      const minor = toMinor(exact, code)
      assert.ok(minor !== undefined && Number.isSafeInteger(minor))
      assert.ok(fromMinor(minor).equals(exact))
      assert.equal(showMinor(minor), exact.toNumber() + 0)
    }),
  )
})

test('an amount that is read without decimals is what decimals make of it', () => {
  const digits = fc.stringMatching(/^-?[0-9]{1,12}(\.[0-9]{1,6})?$/)
  let plain = 0
  fc.assert(
    fc.property(
      currency,
      fc.oneof(digits, fc.constantFrom('-0', '-0.00', '0.1', '1e3')),
      (code, text) => {
        const found = plainMinor(text, code)
        if (found === undefined) return
        plain++
        assert.ok(Object.is(found, toMinor(new Decimal(text), code)), text)
      },
    ),
  )
  assert.ok(plain > 10)
  assert.equal(plainMinor('1.005', 'USD'), undefined)
  assert.equal(plainMinor('12.34', 'USD'), 123_400)
})

test('an amount is shown as decimals show it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer()), (minor) => {
      assert.ok(Object.is(showMinor(minor), showMinor(BigInt(minor))), String(minor))
    }),
    { numRuns: runsOf(2000) },
  )
})

test('subTotal + tax = total, and the charge is quantity × effective price within half a unit', () => {
  fc.assert(
    fc.property(
      currency,
      decimal(10_000, 4),
      decimal(5_000, 8).map((price) => price.abs()),
      fc.integer({ min: 0, max: 100 }),
      fc.integer({ min: 0, max: 30 }),
      fc.constantFrom('1', '0.92', '150.25'),
      (code, units, market, discount, tax, rate) => {
        const effectivePrice = discounted(market, new Decimal(discount))
        const charge = chargeOf({
          units,
          effectivePrice,
          exchangeRate: new Decimal(rate),
          taxPercent: new Decimal(tax),
          currency: code,
        })
        assert.ok(charge !== undefined)
        assert.equal(charge.subTotal + charge.tax, charge.total)
        const exact = units
          .times(market)
          .times(100 - discount)
          .dividedBy(100)
          .times(rate)
        const half = new Decimal(10).pow(-decimalsOfCurrency(code)).dividedBy(2)
        assert.ok(fromMinor(charge.subTotal).minus(exact).abs().lessThanOrEqualTo(half))
        const exactTax = fromMinor(charge.subTotal).times(tax).dividedBy(100)
        assert.ok(fromMinor(charge.tax).minus(exactTax).abs().lessThanOrEqualTo(half))
      },
    ),
  )
})

test('what is too large is none, and nothing is a negative zero', () => {
  assert.equal(toMinor(new Decimal(amountMax).plus(1), 'USD'), undefined)
  assert.equal(toMinor(new Decimal(Number.NaN), 'USD'), undefined)
  assert.ok(Object.is(toMinor(new Decimal('-0.001'), 'USD'), 0))
})
