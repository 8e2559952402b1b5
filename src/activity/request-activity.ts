/**
 * Tells code deep inside a request what the request is about, so that transactions far below the edge can record
 * the caller. It is set around a request's work and read when a transaction is handed to the store. It must not be
 * read inside the transaction: a store may run the work of several requests one after the other.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { FeedPositions } from '#stores/store.ts'
import type { Initiator, Target } from './record.ts'

export interface RequestActivity {
  readonly initiator: Initiator
  readonly action: string
  readonly target: Target
  /** Throws when the caller has lost the right to what was requested. */
  readonly authorizeAgain?: (() => Promise<unknown>) | undefined
  /** The positions of feeds by which the caller was authorized. */
  readonly rightsAsOf?: FeedPositions | undefined
  /** A transaction with a record of this request was committed. */
  recorded: boolean
}

const storage = new AsyncLocalStorage<RequestActivity>()

export function newRequestActivity(
  initiator: Initiator,
  action: string,
  target: Target,
  { authorizeAgain, rightsAsOf }: Pick<RequestActivity, 'authorizeAgain' | 'rightsAsOf'> = {},
): RequestActivity {
  return { initiator, action, target, authorizeAgain, rightsAsOf, recorded: false }
}

export function withRequestActivity<T>(requestActivity: RequestActivity, work: () => T): T {
  return storage.run(requestActivity, work)
}

export function currentRequestActivity(): RequestActivity | undefined {
  return storage.getStore()
}
