/**
 * The decimal library, set up for amounts, and the bounds of what a column holds. No binary fraction is ever
 * calculated with: 164.7 × 5 % is 8.235 here, and rounds to 8.24.
 */

import { Decimal as Base } from 'decimal.js'
import { decimalMax, decimalPlaces, decimalUnit } from '../entity.ts'

/** Wide enough that no product or sum of values with 15 digits is ever cut. Halves go away from zero (business facts 5.1). */
export const Decimal: typeof Base = Base.clone({ precision: 60, rounding: Base.ROUND_HALF_UP })
export type Decimal = Base

/** A number or its digits as a column holds it, rounded to five places; undefined beyond ten digits before the point. */
export function toStored(given: number | string): number | undefined {
  // Most are whole: for those there is nothing to round.
  if (Number.isInteger(given) && Math.abs(Number(given)) <= decimalMax) {
    return Number(given) * decimalUnit + 0
  }
  const value = new Decimal(given)
  if (!value.isFinite() || value.abs().gt(decimalMax)) return undefined
  return value.toDecimalPlaces(decimalPlaces).times(decimalUnit).toNumber() + 0
}

const storedMax = decimalMax * decimalUnit

/** Has the amount at most ten digits before the point? */
export function fits(stored: number): boolean {
  return Math.abs(stored) <= storedMax
}

/** A stored value as clients see it. A sum past what a number holds is the nearest number by now: it is told to the cent. */
export function fromStored(stored: number): number {
  if (Math.abs(stored) <= Number.MAX_SAFE_INTEGER) return stored / decimalUnit
  return Math.round(stored / (decimalUnit / 100)) / 100
}

/** For messages: exact, since a stored value has at most 15 digits. */
export function shown(stored: number): string {
  return String(stored / decimalUnit)
}
