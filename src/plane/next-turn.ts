/** The turns of `kernel/turns.ts` for providers, which cannot import stores. */

import {
  acceptedOf as accepted,
  connected as connection,
  freeTurn as free,
  freeUnknownTurn as freeUnknown,
  ticks as milliseconds,
  nextTurn as next,
} from '#stores/next-turn.ts'

export const nextTurn = next

export const acceptedOf = accepted

export const freeTurn = free

export const freeUnknownTurn = freeUnknown

export const connected = connection

/** Milliseconds. Only for how long something holds the loop. */
export const ticks = milliseconds

/** Characters of a document above which it takes milliseconds to parse it, and no answer made of it is kept. */
export const largeDocument = 64 * 1024
