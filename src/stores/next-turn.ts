/** The turns of all work in slices that belongs to requests: of the plane, its providers, the business application and the edge. */

import { createTurns } from '#kernel/turns.ts'

export const nextTurn = createTurns(setImmediate)
