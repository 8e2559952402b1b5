/**
 * The decimal numbers amounts are made of, and their two shapes at rest: JSON numbers and stored integers. No
 * binary fraction is ever calculated with: 164.7 × 5 % is 8.235 here, and rounds to 8.24.
 */

import { Decimal as Base } from 'decimal.js'
import { decimalMax, decimalPlaces, decimalUnit } from '../entity.ts'

/** Wide enough that no product or sum of values with 15 digits is ever cut; quotients are rounded afterwards. */
export const Decimal: typeof Base = Base.clone({ precision: 60, rounding: Base.ROUND_HALF_UP })
export type Decimal = Base

export const zero: Decimal = new Decimal(0)
export const hundred: Decimal = new Decimal(100)

/** Halves go away from zero (facts 5.1). */
export type Direction = 'nearest' | 'up' | 'down'

const modes: Readonly<Record<Direction, Base.Rounding>> = {
  nearest: Base.ROUND_HALF_UP,
  up: Base.ROUND_UP,
  down: Base.ROUND_DOWN,
}

/** To a multiple of `precision`, which may be any positive number: 0.01, 0.001, 1, 0.05. */
export function roundTo(value: Decimal, precision: Decimal, mode: Direction = 'nearest'): Decimal {
  return value.div(precision).toDecimalPlaces(0, modes[mode]).times(precision)
}

/** Quantities, prices and percents: five places. */
export function roundFive(value: Decimal): Decimal {
  return value.toDecimalPlaces(decimalPlaces, Base.ROUND_HALF_UP)
}

/** The value as its column holds it. A value the column cannot hold is a fault: `fits` is asked before. */
export function toStored(value: Decimal): number {
  if (!fits(value)) throw new Error(`The amount ${value.toString()} does not fit its column.`)
  return roundFive(value).times(decimalUnit).toNumber()
}

export function fromStored(stored: number): Decimal {
  return new Decimal(stored).div(decimalUnit)
}

/** Has the value at most ten digits before the point? */
export function fits(value: Decimal): boolean {
  return value.isFinite() && value.abs().lte(decimalMax)
}

/** The number as JSON has it: exact, since a stored value has at most 15 digits. */
export function storedToNumber(stored: number): number {
  return stored / decimalUnit
}
