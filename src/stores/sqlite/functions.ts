/**
 * SQL functions that this dialect lacks: exact arithmetic beyond 64 bits, for which PostgreSQL has `numeric`, and the end of a
 * statement that computes for too long. Knows no table.
 */

import type { DatabaseSync } from 'node:sqlite'
import { StatementTooLong } from '../store.ts'

/** Rows between two looks at the clock, which costs as much as some of them. The first rows are looked at more often. */
const rowsBetweenLooks = 1024

/**
 * The processor time of the statement that runs. Nothing else ends one: SQLite blocks its thread until it has the answer, also
 * when nobody waits for that any more.
 */
export class StatementTime {
  /** In microseconds. */
  readonly #most: number
  #rows = 0
  #beganAt: number | undefined

  constructor(secondsMax: number) {
    this.#most = secondsMax * 1_000_000
  }

  begin(): void {
    this.#rows = 0
    this.#beganAt = undefined
  }

  /** Counts a row. Throws where the statement has taken too long. */
  count(): void {
    const rows = ++this.#rows
    // Each row may take milliseconds: after 1, 2, 4, 8 and so on.
    const isPower = (rows & (rows - 1)) === 0
    if (!isPower && rows % rowsBetweenLooks !== 0) return
    // Of the whole process where Node cannot tell (before 22.19 and 23.9).
    const { user, system } = (process.threadCpuUsage ?? process.cpuUsage).call(process)
    const now = user + system
    this.#beganAt ??= now
    if (now - this.#beganAt > this.#most) throw new StatementTooLong()
  }
}

/**
 * `share_of(amount, part, whole, unit)`: `amount × part ÷ whole` of integers, exact, rounded to the nearest multiple
 * of `unit`, halves away from zero; 0 if the whole is 0, null if any is null.
 */
function defineShareOf(db: DatabaseSync): void {
  db.function(
    'share_of',
    { deterministic: true, directOnly: true, useBigIntArguments: true },
    (amount, part, whole, unit) =>
      // Integers and nulls only; anything else the first operation refuses.
      shareOf(amount as Whole, part as Whole, whole as Whole, unit as Whole),
  )
}

/**
 * Beside it `within_time(anything)`: 1, as long as the statement may go on. Its argument names a column of the rows that are
 * counted: of a call that names none SQLite makes one for many rows.
 */
export function defineFunctions(db: DatabaseSync, time: StatementTime): void {
  defineShareOf(db)
  db.function('within_time', { directOnly: true }, (_row) => {
    time.count()
    return 1
  })
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
