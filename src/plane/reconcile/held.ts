/**
 * Whether work in the background still has its claim, for the writes that it makes as a caller does: they name no claim.
 * A process that stood still for longer than its lease goes on where it was, and another one has done the work meanwhile.
 * It is ambient, as `stores/awaited.ts` is.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { LostClaim } from '#stores/tries.ts'

const storage = new AsyncLocalStorage<() => boolean>()

export function whileHeld<T>(isHeld: () => boolean, work: () => T): T {
  return storage.run(isHeld, work)
}

/** Asked last in a transaction. What is done for no claim is held by nobody. */
export function requireHeld(): void {
  if (storage.getStore()?.() === false) throw new LostClaim('the work went to another process')
}
