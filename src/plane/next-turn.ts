/** The turns of `kernel/turns.ts` for providers, which cannot import stores. */

import { nextTurn as turn } from '#stores/next-turn.ts'

export const nextTurn = turn

/** Characters of a document above which it is large: it is not kept as an answer, and is parsed and shown in its own turn. */
export const largeDocument = 64 * 1024
