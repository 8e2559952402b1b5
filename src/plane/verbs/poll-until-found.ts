/** Answers that wait for background work for a while, where clients of the type expect none. */

import type { PlaneDependencies } from '../dependencies.ts'
import type { RunInput } from '../plane.ts'

/** How often, and how far apart, a request looks whether the work is done. */
const looksMax = 300
const lookMilliseconds = 10

/**
 * The first answer of `look`; undefined if there was none. Limited by the number of looks, not by the clock, which may
 * be stopped. Another process may do the work, so `look` asks the store.
 */
export async function pollUntilFound<T>(
  { timers }: Pick<PlaneDependencies, 'timers'>,
  { signal }: Pick<RunInput, 'signal'>,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let looks = 0; looks < looksMax; looks++) {
    const found = await look()
    if (found !== undefined) return found
    signal?.throwIfAborted()
    await new Promise<void>((resolve) => timers.after(lookMilliseconds, resolve))
  }
  return undefined
}
