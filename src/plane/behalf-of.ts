/** In whose name the store is asked, for the edge and for providers, which cannot import stores. */

import { type Behalf, forEverybody as everybody, behalfOf as of } from '#stores/awaited.ts'

export const behalfOf: (owner: string) => Behalf = of

export const forEverybody = everybody

/** One piece of work in somebody's name, from its begin to its end. */
export async function inNameOf<T>(owner: string, work: () => Promise<T>): Promise<T> {
  const behalf = of(owner)
  try {
    return await behalf.run(work)
  } finally {
    behalf.end()
  }
}
