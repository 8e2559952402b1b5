/** Keeps the lease of work that goes on, in the background; and waits for its end, where the process ends. */

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

/** Resolves at the end of the work, or after so long. */
export async function unlessTooLong(
  ended: Promise<unknown>,
  timers: Timers,
  milliseconds: number,
): Promise<void> {
  const tooLong = Promise.withResolvers<void>()
  const wait = timers.after(milliseconds, tooLong.resolve)
  await Promise.race([ended, tooLong.promise])
  wait.cancel()
}
