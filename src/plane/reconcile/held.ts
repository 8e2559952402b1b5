/**
 * Whether work in the background still has its claim, for the writes that it makes as a caller does: they name no claim.
 * A process that stood still for longer than its lease goes on where it was, and another one has done the work meanwhile.
 * It is ambient, as `stores/awaited.ts` is.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { LostClaim } from '#stores/tries.ts'

const storage = new AsyncLocalStorage<(() => boolean) | undefined>()

export function whileHeld<T>(isHeld: () => boolean, work: () => T): T {
  return storage.run(isHeld, work)
}

/** What one claim sets off for all of them, as timers and the look for what is due. */
export function forNoClaim<T>(work: () => T): T {
  return storage.run(undefined, work)
}

/**
 * To be taken before a transaction, and called last in it: a store may run transactions of many in the context of one of them.
 * It throws where the claim is lost. What is done for no claim is held by nobody.
 */
export function heldNow(): () => void {
  const isHeld = storage.getStore()
  return () => {
    if (isHeld?.() === false) throw new LostClaim('the work went to another process')
  }
}
