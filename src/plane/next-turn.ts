/** The turns of `kernel/turns.ts` for providers, which cannot import stores. */

import { freeTurn as free, nextTurn as next } from '#stores/next-turn.ts'

export const nextTurn = next

export const freeTurn = free
