/**
 * What a request is about, for those parts of it that write to tables of their own: they open transactions far below
 * the place that knows the caller. Set around a request's work, read where a transaction is handed to the store.
 * Inside the transaction it must not be read: a store may run the work of several requests one after the other.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Target, Trail } from './record.ts'

export interface Act {
  readonly trail: Trail
  readonly action: string
  readonly target: Target
  /** A transaction with a record of this act was committed. */
  recorded: boolean
}

const storage = new AsyncLocalStorage<Act>()

export function newAct(trail: Trail, action: string, target: Target): Act {
  return { trail, action, target, recorded: false }
}

export function duringAct<T>(act: Act, work: () => T): T {
  return storage.run(act, work)
}

export function currentAct(): Act | undefined {
  return storage.getStore()
}
