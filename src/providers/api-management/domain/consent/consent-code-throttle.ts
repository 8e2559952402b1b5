/**
 * Slows down guesses of consent codes: after some wrong ones for an authorization, all must wait. Held in memory.
 */

import { backOff } from '#kernel/back-off.ts'

export interface ConsentCodeThrottle {
  /** The seconds to wait before the next check; 0: none. */
  waitSeconds(key: string, now: number): number
  /** Records a wrong code. */
  note(key: string, now: number): void
}

const freeMax = 5
const firstWaitMilliseconds = 10_000
const longestWaitMilliseconds = 15 * 60_000
const remembered = 10_000

export function openConsentCodeThrottle(): ConsentCodeThrottle {
  const wrong = new Map<string, { count: number; until: number }>()
  return {
    waitSeconds(key, now) {
      const known = wrong.get(key)
      return known === undefined ? 0 : Math.max(0, Math.ceil((known.until - now) / 1000))
    },
    note(key, now) {
      const known = wrong.get(key)
      // After a long time without an attempt the count starts over.
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
