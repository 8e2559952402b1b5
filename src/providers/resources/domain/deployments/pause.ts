/** Large templates and arguments are written as text several times; between two of them the server does other work. */

import { nextTurn } from '#plane/next-turn.ts'

const largeCharacters = 64 * 1024

/** Waits for a turn of the event loop after work on a large text; after a small one, at once. */
export async function pauseAfter({ length }: { readonly length: number }): Promise<void> {
  if (length > largeCharacters) await nextTurn()
}
