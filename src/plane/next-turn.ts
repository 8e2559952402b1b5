/** The turns of all work in slices that belongs to requests of the plane, of its providers and of the edge. */

import { createTurns } from '#kernel/turns.ts'

export const nextTurn = createTurns(setImmediate)
