/** In whose name the store is asked, for the edge and for providers, which cannot import stores. */

import { type Behalf, forEverybody as everybody, behalfOf as of } from '#stores/awaited.ts'

export const behalfOf: (owner: string) => Behalf = of

export const forEverybody = everybody
