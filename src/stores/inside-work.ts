/**
 * Tells whether code runs inside the work of a transaction. Such work may use only its own transaction: a read beside
 * it could wait for a connection while all of them are held by transactions that wait for the same, or for the end of
 * its own batch. Such a call is refused every time, so that tests find it even on an idle store.
 */

import { AsyncLocalStorage } from 'node:async_hooks'

interface Work {
  readonly store: object
  /** Asynchronous work that outlives the transaction counts as outside from then on. */
  open: boolean
}

const storage = new AsyncLocalStorage<Work>()

export async function runInsideWork<T>(store: object, work: () => Promise<T>): Promise<T> {
  const current: Work = { store, open: true }
  try {
    return await storage.run(current, work)
  } finally {
    current.open = false
  }
}

/** Throws a fault inside the work of a transaction of that store. */
export function assertOutsideWork(store: object): void {
  const current = storage.getStore()
  if (current?.open === true && current.store === store) {
    throw new Error(
      'The work of a transaction asked its store for something beside its transaction.',
    )
  }
}
