/**
 * Who waits for an answer of the store. A store that has no room for a call asks for the signal, and lets the call wait
 * no longer than that. It is ambient, so that what stands around the port need not hand it on.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Awaited } from '#kernel/room.ts'

const storage = new AsyncLocalStorage<Awaited>()

/** Makes one call of the store, for somebody who waits until the signal is aborted. */
export function whileAwaited<T>(awaited: Awaited, call: () => T): T {
  return storage.run(awaited, call)
}

/** The signal of the call that is being made. */
export function awaitedSignal(): ReturnType<Awaited> {
  return storage.getStore()?.()
}
