/**
 * What a request is about, for those parts of it that write to tables of their own: they open transactions far below
 * the place that knows the caller. Set around a request's work, read where a transaction is handed to the store.
 * Inside the transaction it must not be read: a store may run the work of several requests one after the other.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Initiator, Target } from './record.ts'

export interface RequestActivity {
  readonly initiator: Initiator
  readonly action: string
  readonly target: Target
  /** A transaction with a record of this act was committed. */
  recorded: boolean
}

const storage = new AsyncLocalStorage<RequestActivity>()

export function newRequestActivity(
  initiator: Initiator,
  action: string,
  target: Target,
): RequestActivity {
  return { initiator, action, target, recorded: false }
}

export function withRequestActivity<T>(requestActivity: RequestActivity, work: () => T): T {
  return storage.run(requestActivity, work)
}

export function currentRequestActivity(): RequestActivity | undefined {
  return storage.getStore()
}
