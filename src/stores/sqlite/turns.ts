/**
 * Lets the event loop come round while transactions run: after so many of their statements, of one transaction or of
 * many in one batch. Counted, not timed, so that tests can count them too. What is not committed stays unseen meanwhile,
 * since readers have a connection of their own, and other writers wait as they do anyway.
 */

import { setImmediate } from 'node:timers/promises'

/** Some milliseconds. */
export const statementsAtOnceMax = 100
/** Characters of documents that are read count as one statement. */
const charactersPerStatement = 16 * 1024
/** So do values that are written: one statement may insert many rows. */
const valuesPerStatement = 50

export class Turns {
  #statements = 0
  #total = 0
  #pauses = 0

  /** Somebody waits here for the next turn, and for nothing else. */
  get arePausing(): boolean {
    return this.#pauses > 0
  }

  /** Statements so far. */
  get total(): number {
    return this.#total
  }

  count(): void {
    this.#statements++
    this.#total++
  }

  /** What is written takes its time, too. */
  weighValues(values: number): void {
    this.#statements += values / valuesPerStatement
  }

  /** What was read takes its time too. */
  weigh(characters: number): void {
    this.#statements += characters / charactersPerStatement
  }

  /** `undefined` where no pause is due. */
  pause(): Promise<void> | undefined {
    return this.#statements < statementsAtOnceMax ? undefined : this.#pause()
  }

  async #pause(): Promise<void> {
    this.#statements = 0
    this.#pauses++
    await setImmediate()
    this.#pauses--
  }
}
