/** Background work in rounds: one at a time, and each says when the next one is due. */

import type { Timers } from './ports.ts'

export interface Rounds extends AsyncDisposable {
  /** Begins the next round at once, or right after the one that is running: that may have looked already. */
  wake(): void
}

/**
 * Begins at once if the first wait is zero. `round` returns the milliseconds until the next one, and handles its own failures.
 * Disposing waits for the round that is running.
 */
export function startRounds(
  timers: Timers,
  firstMilliseconds: number,
  round: (isStopped: () => boolean) => Promise<number>,
): Rounds {
  let stopped = false
  let isWoken = false
  let timer: { cancel(): void } | undefined
  let underway: Promise<void> = Promise.resolve()
  const next = (): Promise<void> => {
    timer = undefined
    isWoken = false
    underway = round(() => stopped).then(plan)
    return underway
  }
  const plan = (milliseconds: number): void => {
    if (!stopped) timer = timers.after(isWoken ? 0 : milliseconds, next)
  }
  if (firstMilliseconds === 0) void next()
  else plan(firstMilliseconds)
  return {
    wake() {
      isWoken = true
      if (timer === undefined || stopped) return
      timer.cancel()
      void next()
    },
    async [Symbol.asyncDispose]() {
      stopped = true
      timer?.cancel()
      await underway
    },
  }
}
