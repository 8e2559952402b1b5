/**
 * The decimal library, configured for amounts, and the bounds of columns. Nothing is calculated with binary
 * fractions: 164.7 × 5 % is 8.235 here, and rounds to 8.24.
 */

import { Decimal as Base } from 'decimal.js'
import { decimalMax, decimalPlaces, decimalUnit } from '../entity.ts'

/**
 * Precise enough for every product or sum of values with 15 digits. Halves round away from zero (business facts
 * 5.1).
 */
export const Decimal: typeof Base = Base.clone({ precision: 60, rounding: Base.ROUND_HALF_UP })
export type Decimal = Base

/**
 * A number or its digits in the stored form, rounded to five places; undefined with more than ten digits before the
 * point.
 */
export function toStored(given: number | string): number | undefined {
  // Most values are whole and need no rounding.
  if (Number.isInteger(given) && Math.abs(Number(given)) <= decimalMax) {
    return Number(given) * decimalUnit + 0
  }
  const value = new Decimal(given)
  if (!value.isFinite() || value.abs().gt(decimalMax)) return undefined
  return value.toDecimalPlaces(decimalPlaces).times(decimalUnit).toNumber() + 0
}

const storedMax = decimalMax * decimalUnit

/** Whether the amount has at most ten digits before the point. */
export function fits(stored: number): boolean {
  return Math.abs(stored) <= storedMax
}

/**
 * The wire form of a stored value. A sum beyond exact numbers is already the nearest one; it is shown to the cent.
 */
export function fromStored(stored: number): number {
  if (Math.abs(stored) <= Number.MAX_SAFE_INTEGER) return stored / decimalUnit
  return Math.round(stored / (decimalUnit / 100)) / 100
}

/** For messages; exact, since a stored value has at most 15 digits. */
export function shown(stored: number): string {
  return String(stored / decimalUnit)
}
