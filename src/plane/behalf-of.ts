/** In whose name the store is asked, for the edge, which cannot import stores. */

import { type Behalf, behalfOf as of } from '#stores/awaited.ts'

export const behalfOf: (owner: string) => Behalf = of
