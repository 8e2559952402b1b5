/**
 * Exact amounts of money: decimals while computing, whole ten-thousandths of the major unit in the store. No
 * currency has smaller units, so SQL orders and compares them by value. Never a binary fraction.
 */

import { Decimal } from 'decimal.js'
import { decimalsOfCurrency } from './currencies.ts'

/** Ten-thousandths of the currency's major unit: 12.34 USD is 123400. A safe integer. */
export type Minor = number

export const minorScale = 10_000
const minorDecimals = 4

/** The largest amount of one entry in major units: a safe integer of ten-thousandths. */
export const amountMax = 900_000_000_000

/** Rounded half up (away from zero) to the currency's smallest unit. Undefined when it is too large. */
export function toMinor(value: Decimal, currency: string): Minor | undefined {
  if (!value.isFinite() || value.abs().greaterThan(amountMax)) return undefined
  const rounded = value.toDecimalPlaces(decimalsOfCurrency(currency), Decimal.ROUND_HALF_UP)
  // Adding 0 turns a negative zero into a plain one.
  return rounded.times(minorScale).toNumber() + 0
}

const plainAmount = /^-?\d{1,11}(?:\.\d{1,4})?$/

/** Like `toMinor` of the text's value when it needs no rounding; undefined when it might. */
export function plainMinor(text: string, currency: string): Minor | undefined {
  if (!plainAmount.test(text)) return undefined
  const dot = text.indexOf('.')
  // Only digits, fewer than a safe integer has.
  if (dot < 0) return Number(text) * minorScale + 0
  const decimals = text.length - dot - 1
  if (decimals > decimalsOfCurrency(currency)) return undefined
  const digits = Number(text.slice(0, dot) + text.slice(dot + 1))
  return digits * 10 ** (minorDecimals - decimals) + 0
}

export function fromMinor(minor: Minor | bigint | string): Decimal {
  return new Decimal(String(minor)).dividedBy(minorScale)
}

/** The contract's form of an amount: major units as a number. */
export function showMinor(minor: Minor | bigint | string): number {
  // Both are exact, so their quotient is the number nearest to the true one.
  if (typeof minor === 'number' && Number.isSafeInteger(minor)) return minor / minorScale + 0
  return fromMinor(minor).toNumber() + 0
}

interface Amount {
  readonly currency: string
  readonly value: number
}

export function amountOf(currency: string, minor: Minor | bigint | string): Amount {
  return { currency, value: showMinor(minor) }
}

export interface Charge {
  readonly subTotal: Minor
  readonly tax: Minor
  readonly total: Minor
}

/**
 * The price of `units` at `effectivePrice` in the billing currency. It is the sum of rounded parts, so that they
 * add up on paper. Undefined when it is too large.
 */
export function chargeOf(given: {
  readonly units: Decimal
  readonly effectivePrice: Decimal
  readonly exchangeRate: Decimal
  readonly taxPercent: Decimal
  readonly currency: string
}): Charge | undefined {
  const { units, effectivePrice, exchangeRate, currency } = given
  const subTotal = toMinor(units.times(effectivePrice).times(exchangeRate), currency)
  if (subTotal === undefined) return undefined
  const tax = toMinor(fromMinor(subTotal).times(given.taxPercent).dividedBy(100), currency)
  if (tax === undefined || Math.abs(subTotal + tax) > amountMax * minorScale) return undefined
  return { subTotal, tax, total: subTotal + tax }
}

/** The price after a discount in percent. */
export function discounted(price: Decimal, discountPercent: Decimal): Decimal {
  return price.times(new Decimal(100).minus(discountPercent)).dividedBy(100)
}
