/**
 * Arithmetic of amounts as columns hold them: whole numbers of 10^-5. Exact at any size: what does not fit the whole
 * numbers of a double goes through the decimal library, which also is what the tests hold the short way against.
 */

import { Decimal } from './decimals.ts'

/** One, as a column holds it; also a hundred percent of a factor of one. */
export const one = 100_000
export const hundredPercent = 10_000_000

/**
 * `amount × part ÷ whole` to the nearest multiple of `unit`, which may be any positive one: 0.01, 0.001, 1, 0.05.
 * Halves go away from zero (facts 5.1). `whole` is not 0.
 */
export function ratio(amount: number, part: number, whole: number, unit: number): number {
  const above = amount * part
  const below = whole * unit
  if (!Number.isSafeInteger(above) || !Number.isSafeInteger(2 * below)) {
    return decimalRatio(amount, part, whole, unit)
  }
  const rest = above % below
  const down = (above - rest) / below
  const isUp = 2 * Math.abs(rest) >= Math.abs(below)
  const nearest = isUp ? down + Math.sign(rest) * Math.sign(below) : down
  // Adding nothing makes of a negative zero a plain one.
  return nearest * unit + 0
}

/** The same by decimals. */
export function decimalRatio(amount: number, part: number, whole: number, unit: number): number {
  const below = new Decimal(whole).times(unit)
  const multiple = new Decimal(amount).times(part).div(below).toDecimalPlaces(0)
  return multiple.times(unit).toNumber() + 0
}

/** To a multiple of `unit`. */
export function roundTo(amount: number, unit: number): number {
  return ratio(amount, 1, 1, unit)
}
