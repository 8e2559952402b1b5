/**
 * Arithmetic of stored amounts: whole numbers of 10^-5. It is exact at any size: what does not fit a double's whole
 * numbers uses big integers. The tests compare both with the decimal library.
 */

import { decimalUnit } from '../entity.ts'

/** One in the stored form; also a hundred percent as a factor. */
export const one = decimalUnit
export const hundredPercent = 10_000_000
const cent = one / 100

/** Currencies whose smallest amount is no cent (ISO 4217). */
export const unitsOfCurrencies: Readonly<Record<string, number>> = Object.freeze(
  Object.fromEntries([
    ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'
      .split(' ')
      .map((code) => [code, one]),
    ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, one / 1000]),
  ]),
)

/** The smallest amount of a currency. */
export function unitOfCurrency(code: string): number {
  return unitsOfCurrencies[code] ?? cent
}

/**
 * `amount × part ÷ whole` to the nearest multiple of `unit`, which may be any positive one: 0.01, 0.001, 1, 0.05.
 * Halves go away from zero (business facts 5.1). `whole` is not 0.
 */
export function ratio(amount: number, part: number, whole: number, unit: number): number {
  const above = amount * part
  const below = whole * unit
  if (!Number.isSafeInteger(above) || !Number.isSafeInteger(2 * below)) {
    return wholeRatio(amount, part, whole, unit)
  }
  const rest = above % below
  const down = (above - rest) / below
  const isUp = 2 * Math.abs(rest) >= Math.abs(below)
  const nearest = isUp ? down + Math.sign(rest) * Math.sign(below) : down
  // Adding zero turns a negative zero into a positive one.
  return nearest * unit + 0
}

function wholeRatio(amount: number, part: number, whole: number, unit: number): number {
  const above = BigInt(amount) * BigInt(part)
  const below = BigInt(whole) * BigInt(unit)
  const [size, by] = [magnitude(above), magnitude(below)]
  const nearest = (2n * size + by) / (2n * by)
  const isNegative = above < 0n !== below < 0n
  return Number((isNegative ? -nearest : nearest) * BigInt(unit))
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** Rounds to a multiple of `unit`. */
export function roundTo(amount: number, unit: number): number {
  return ratio(amount, 1, 1, unit)
}
