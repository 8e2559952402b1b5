/** Large templates and arguments are written as text several times; between two of them the server does other work. */

import { nextTurn } from '#plane/next-turn.ts'

const largeCharacters = 64 * 1024

/** Waits for a turn of the event loop after work on a large text; not at all after a small one. */
export async function pauseAfter(text: string): Promise<void> {
  if (text.length > largeCharacters) await nextTurn()
}
