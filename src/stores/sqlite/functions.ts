/**
 * SQL functions that this dialect lacks: exact arithmetic beyond 64 bits, for which PostgreSQL has `numeric`. Knows
 * no table.
 */

import type { DatabaseSync } from 'node:sqlite'

/**
 * `share_of(amount, part, whole, unit)`: `amount × part ÷ whole` of integers, exact, rounded to the nearest multiple
 * of `unit`, halves away from zero; 0 if the whole is 0, null if any is null.
 */
export function defineFunctions(db: DatabaseSync): void {
  db.function(
    'share_of',
    { deterministic: true, directOnly: true, useBigIntArguments: true },
    (amount, part, whole, unit) =>
      // Integers and nulls only; anything else the first operation refuses.
      shareOf(amount as Whole, part as Whole, whole as Whole, unit as Whole),
  )
}

type Whole = bigint | null

function shareOf(amount: Whole, part: Whole, whole: Whole, unit: Whole): Whole {
  if (amount === null || part === null || whole === null || unit === null) return null
  if (whole === 0n) return 0n
  const above = amount * part
  const below = whole * unit
  const size = (2n * absolute(above) + absolute(below)) / (2n * absolute(below))
  return (above < 0n === below < 0n ? size : -size) * unit
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value
}
