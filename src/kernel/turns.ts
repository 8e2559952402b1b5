/**
 * Work in slices takes turns: of all that wait, one goes on in each turn of the event loop, in the order they asked. Fifty
 * requests that each pause would otherwise all go on in the same turn, and hold it up together.
 */

/** Resolves when it is the caller's turn. */
type NextTurn = () => Promise<void>

/** `schedule` runs what it is given in the next turn of the loop. */
export function createTurns(schedule: (run: () => void) => unknown): NextTurn {
  const waiting = new Set<() => void>()
  function run(): void {
    for (const next of waiting) {
      waiting.delete(next)
      if (waiting.size > 0) schedule(run)
      next()
      return
    }
  }
  return () =>
    new Promise((resolve) => {
      waiting.add(resolve)
      if (waiting.size === 1) schedule(run)
    })
}
