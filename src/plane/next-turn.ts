/** For providers, which see no stores: the same turns. */

import { nextTurn as turn } from '#stores/next-turn.ts'

export const nextTurn = turn
