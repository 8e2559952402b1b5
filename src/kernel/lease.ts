/** Keeps the lease of work that goes on, in the background. */

import type { Timers } from './ports.ts'

/**
 * `renew` gives false once somebody else has the lease: `lost` is called then, and nothing is renewed any more. Without an
 * answer (undefined, or a rejection) it is tried again. After the end of the work neither is called.
 */
export function keepLease(
  timers: Timers,
  everyMilliseconds: number,
  renew: () => Promise<boolean | undefined>,
  lost: () => void,
): Disposable {
  let isOver = false
  const round = async (): Promise<void> => {
    const isHeld = await renew().catch(() => undefined)
    if (isOver) return
    if (isHeld === false) lost()
    else timer = timers.after(everyMilliseconds, round)
  }
  let timer = timers.after(everyMilliseconds, round)
  return {
    [Symbol.dispose]() {
      isOver = true
      timer.cancel()
    },
  }
}
