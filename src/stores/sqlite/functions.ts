/**
 * SQL functions that this dialect lacks: exact arithmetic beyond 64 bits, for which PostgreSQL has `numeric`, and the end of a
 * statement that computes for too long. Knows no table.
 */

import type { DatabaseSync } from 'node:sqlite'
import { ticks } from '../next-turn.ts'
import { StatementTooLong } from '../store.ts'

/** Between two looks at the processor time, which costs as much as some rows. A look at the clock costs little. */
const millisecondsBetweenLooks = 5

/** A statement that takes longer gives others a turn between its rows. Processor time, in seconds. */
export const quickSeconds = 0.1

const microseconds = 1_000_000

/**
 * The processor time of the statement that runs. Nothing else ends one: SQLite blocks its thread until it has the answer, also
 * when nobody waits for that any more.
 */
export class StatementTime {
  /** What a statement may take, in seconds. */
  secondsMax: number
  readonly #serveOthers: (() => void) | undefined
  /** By the clock, whatever a row takes. */
  #nextLook = 0
  #beganAt: number | undefined
  /** When others have their next turn. */
  #othersAt = 0

  /** `serveOthers` is called between the rows of a statement that is not quick. It has half of the time. */
  constructor(secondsMax: number, serveOthers?: () => void) {
    this.secondsMax = secondsMax
    this.#serveOthers = serveOthers
  }

  begin(): void {
    this.#nextLook = 0
    this.#beganAt = undefined
  }

  /** Counts a row. Throws where the statement has taken too long. */
  count(): void {
    const time = ticks()
    if (time < this.#nextLook) return
    this.#nextLook = time + millisecondsBetweenLooks
    const now = usedMicroseconds()
    if (this.#beganAt === undefined) {
      this.#beganAt = now
      this.#othersAt = now + quickSeconds * microseconds
    }
    if (now - this.#beganAt > this.secondsMax * microseconds) throw new StatementTooLong()
    if (this.#serveOthers === undefined || now < this.#othersAt) return
    this.#serveOthers()
    const after = usedMicroseconds()
    this.#beganAt += after - now
    this.#othersAt = after + (after - now)
  }
}

/** Of the thread. Of the whole process where Node cannot tell (before 22.19 and 23.9). */
function usedMicroseconds(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage).call(process)
  return user + system
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
