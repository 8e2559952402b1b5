/**
 * Runs a transaction that somebody decided on by what feeds tell, such as who has which right. Where one of them moves on
 * while the transaction waits, it is taken back, decided anew, and run again.
 */

import { FeedMoved, type FeedPositions, type Optimistic } from './store.ts'

/**
 * The last try is not compared: where feeds move on more often than a transaction takes, it would never be done. It was
 * decided when it began.
 */
export const comparedMax = 3

/** What a transaction fails with where a feed moved on; undefined where none did. */
export function findMove(
  expected: FeedPositions,
  positionOf: (name: string, at: number) => number,
): FeedMoved | undefined {
  const names = Object.keys(expected)
  // Each write is compared, and hardly ever one has moved.
  if (names.every((name, at) => positionOf(name, at) === expected[name])) return undefined
  return new FeedMoved(Object.fromEntries(names.map((name, at) => [name, positionOf(name, at)])))
}

export async function transactOptimistically<D, T>(
  first: { readonly positions: FeedPositions; readonly decision: D },
  decideAgain: () => Promise<D>,
  transact: (decision: D, mode: Optimistic | undefined) => Promise<T>,
): Promise<T> {
  let { positions, decision } = first
  for (let compared = 0; ; compared++) {
    try {
      return await transact(decision, compared < comparedMax ? { expected: positions } : undefined)
    } catch (error) {
      if (!(error instanceof FeedMoved)) throw error
      positions = error.positions
      decision = await decideAgain()
    }
  }
}
