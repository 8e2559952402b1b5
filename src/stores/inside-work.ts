/**
 * Whether code runs inside the work of a transaction. Such work may call its own transaction only: a read beside it would
 * wait for a connection that all transactions hold while they wait for the same, or for the end of its own batch. It is
 * refused at every call, so that a test sees it however idle the store is.
 */

import { AsyncLocalStorage } from 'node:async_hooks'

interface Work {
  readonly store: object
  /** What the work began and left behind goes on after it, and is outside then. */
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
