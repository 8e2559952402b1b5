/**
 * Runs a transaction that somebody decided on by what feeds tell, such as who has which right. Where one of them moves on
 * while the transaction waits, it is taken back, decided anew, and run again.
 */

import { FeedMoved, type FeedPositions, type Unmoved } from './store.ts'

/**
 * The last try is not compared: where feeds move on more often than a transaction takes, it would never be done. It was
 * decided when it began.
 */
const comparedMax = 3

export async function whileUnmoved<D, T>(
  first: { readonly positions: FeedPositions; readonly decision: D },
  decideAgain: () => Promise<D>,
  transact: (decision: D, among: Unmoved | undefined) => Promise<T>,
): Promise<T> {
  let { positions, decision } = first
  for (let compared = 0; ; compared++) {
    try {
      return await transact(decision, compared < comparedMax ? { unmoved: positions } : undefined)
    } catch (error) {
      if (!(error instanceof FeedMoved)) throw error
      positions = error.positions
      decision = await decideAgain()
    }
  }
}
