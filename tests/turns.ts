/** Counts the turns of the event loop: whether others have theirs while something long is done. */

import type { TestContext } from 'node:test'

/** The number of turns during some work. A failure of the work ends the count, too. */
export async function turnsOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly turns: number; readonly result: T }> {
  let turns = 0
  let next: NodeJS.Immediate
  const turn = (): void => {
    turns++
    next = setImmediate(turn)
  }
  next = setImmediate(turn)
  try {
    const result = await work()
    return { turns, result }
  } finally {
    clearImmediate(next)
  }
}

/** Later than any moment that a test was given: a turn may have begun in the test before. */
let now = 0

/** For the rest of the test every turn is used up by what is done first in it: whoever asks then waits. */
export function useUpTurns(t: TestContext): void {
  now = Math.max(now, performance.now())
  t.mock.method(performance, 'now', () => {
    now += 11
    return now
  })
}
