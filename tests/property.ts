/**
 * The fast-check settings of every property test. The ordinary suite has one seed, so that it fails only because of
 * a change, and a part of the runs: what the rest would find, another seed finds as well. The long suite has all of them,
 * with a new seed each time. Shrinking of a failing example stops after a while: for large
 * values it could go on for hours, and the failure would never be reported.
 */

import fc from 'fast-check'
import { isLong } from './long.ts'

fc.configureGlobal({
  ...(isLong ? {} : { seed: 20_261_122 }),
  interruptAfterTimeLimit: isLong ? 900_000 : 120_000,
})

export { fc }

/** Fewer than these are not cut: each costs much, or the test needs every one. */
const runsKept = 100

/** How often the ordinary suite tries a property that the long one tries `all` times: a fifth, but a hundred at least. */
export function runsOf(all: number): number {
  return isLong ? all : Math.max(Math.min(all, runsKept), Math.ceil(all / 5))
}
