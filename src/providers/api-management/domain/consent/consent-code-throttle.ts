/** Slows down who guesses consent codes: after some wrong ones of an authorization, all wait. Held in memory. */

import { backOff } from '#kernel/back-off.ts'

export interface Guesses {
  /** How long to wait before the next one is looked at; 0: not at all. */
  waitSeconds(key: string, now: number): number
  /** A wrong one. */
  note(key: string, now: number): void
}

const freeMax = 5
const firstWaitMilliseconds = 10_000
const longestWaitMilliseconds = 15 * 60_000
const remembered = 10_000

export function openGuesses(): Guesses {
  const wrong = new Map<string, { count: number; until: number }>()
  return {
    waitSeconds(key, now) {
      const known = wrong.get(key)
      return known === undefined ? 0 : Math.max(0, Math.ceil((known.until - now) / 1000))
    },
    note(key, now) {
      const known = wrong.get(key)
      // After a long time without an attempt the count starts again.
      const isOld = known !== undefined && known.until + longestWaitMilliseconds < now
      const count = known === undefined || isOld ? 1 : known.count + 1
      const wait =
        count <= freeMax
          ? 0
          : backOff(
              { first: firstWaitMilliseconds, most: longestWaitMilliseconds },
              count - freeMax - 1,
            )
      wrong.delete(key)
      wrong.set(key, { count, until: now + wait })
      const [oldest] = wrong.keys()
      if (wrong.size > remembered && oldest !== undefined) wrong.delete(oldest)
    },
  }
}
