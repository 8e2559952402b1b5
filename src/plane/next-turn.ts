/** The turns of `kernel/turns.ts` for providers, which cannot import stores. */

import { nextTurn as turn } from '#stores/next-turn.ts'

export const nextTurn = turn
