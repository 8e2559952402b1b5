/**
 * Lets sliced work take turns: one waiter continues in each turn of the event loop, in order of arrival. Without
 * this, fifty requests that each pause would all continue in the same turn and block it together.
 */

/** Resolves when it is the caller's turn. */
type NextTurn = () => Promise<void>

/** `schedule` runs its argument in the next turn of the loop. */
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
