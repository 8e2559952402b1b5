/** In whose name the store is asked, for the edge and for providers, which cannot import stores. */

import { behalfOf, forEverybody as everybody } from '#stores/awaited.ts'

export const forEverybody = everybody

/** One piece of work in somebody's name, from its begin to its end. */
export async function inNameOf<T>(owner: string, work: () => Promise<T>): Promise<T> {
  const behalf = behalfOf(owner)
  try {
    return await behalf.run(work)
  } finally {
    behalf.end()
  }
}
