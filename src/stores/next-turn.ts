/** The turns of all that requests do: in the stores, the plane, its providers, the business application and the edge. */

import { createTurns } from '#kernel/turns.ts'

/** Milliseconds. Only for how long something holds the loop. */
export const ticks = (): number => performance.now()

const turns = createTurns({ schedule: setImmediate, ticks })

/** Resolves in a later turn: for work in slices. */
export const nextTurn = turns.next

/** Those that are accepted. It may take long to decide on each, so turns end between them. */
export async function acceptedOf<T>(
  items: Iterable<T>,
  accepts: (item: T) => boolean,
): Promise<T[]> {
  const found: T[] = []
  for (const one of items) {
    await turns.free()
    if (accepts(one)) found.push(one)
  }
  return found
}

/** Asked before something that may take a millisecond: `undefined` where this turn has time left for it. */
export const freeTurn = turns.free

/** The same for whoever is not known yet. */
export const freeUnknownTurn = turns.freeUnknown

/** To be called for each connection that is accepted. */
export const connected = turns.connected
