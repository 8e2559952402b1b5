/** Pauses between conversions of large templates and arguments to text, so that the server does other work. */

import { nextTurn } from '#plane/next-turn.ts'

const largeCharacters = 64 * 1024

/** Waits for a turn of the event loop after work on a large text; returns at once after a small one. */
export async function pauseAfter({ length }: { readonly length: number }): Promise<void> {
  if (length > largeCharacters) await nextTurn()
}
