/**
 * Lets the event loop come round while transactions run, one or many in one batch, and counts their statements. What is
 * not committed stays unseen meanwhile, since readers have a connection of their own, and other writers wait as they do
 * anyway.
 */

import { setImmediate } from 'node:timers/promises'
import { ticks } from '../next-turn.ts'

/** A batch holds the loop no longer than this and its last piece of work. Its own time: others may use up every turn. */
const millisecondsAtOnce = 5

export class Turns {
  #total = 0
  #since = ticks()
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
    this.#total++
  }

  /** A batch begins, or goes on. */
  begin(): void {
    this.#since = ticks()
  }

  /** `undefined` where no pause is due. Other writers wait for the end of the batch, so it waits behind nobody. */
  pause(): Promise<void> | undefined {
    return ticks() - this.#since > millisecondsAtOnce ? this.#pause() : undefined
  }

  async #pause(): Promise<void> {
    this.#pauses++
    await setImmediate()
    this.#pauses--
    this.begin()
  }
}
