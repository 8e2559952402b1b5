/**
 * The transaction in which resources of one type are written. Types whose changes go to a feed decide by each other (who
 * has which role, where a group lies), so writes of one feed run one at a time, in all processes.
 */

import { transactOptimistically } from '#stores/optimistic.ts'
import type { FeedPositions, Optimistic, Tx } from '#stores/store.ts'
import type { CompiledType } from './compiled-type.ts'
import type { PlaneDependencies } from './dependencies.ts'
import type { RunInput } from './plane.ts'
import { heldNow } from './reconcile/held.ts'

type Deps = Pick<PlaneDependencies, 'store'> & Partial<Pick<PlaneDependencies, 'access'>>
type Type = Pick<CompiledType, 'stored'>

/** For writes of the installation itself. */
export function transactOn<T>(
  { store }: Deps,
  { stored }: Type,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const requireHeld = heldNow()
  const held = async (tx: Tx): Promise<T> => {
    const done = await work(tx)
    requireHeld()
    return done
  }
  return store.transact(held, stored?.feed)
}

interface CallersWork<R, T> {
  readonly input: RunInput
  /** Before the transaction: asks which rights the caller has, as far as the transaction needs them. */
  open(input: RunInput): Promise<R>
  inside(opened: R, tx: Tx): Promise<T>
}

/**
 * For writes of a caller. One that waits for its turn, a row or a connection may lose its right meanwhile. So it is
 * authorized again, and opened, when its turn has come (decision 0261); and where it has no turn, if rights or the directory
 * changed before it is committed (decision 0157). Throws 401 and 403.
 */
export async function transactFor<R, T>(
  { store, access }: Deps,
  { stored }: Type,
  { input, open, inside }: CallersWork<R, T>,
): Promise<T> {
  const { authorizeAgain, rightsAsOf: positions, signal } = input
  const requireHeld = heldNow()
  const name = stored?.feed
  const openAgain = async (): Promise<R> => open({ ...input, pending: await authorizeAgain?.() })
  const work = async (opened: R, tx: Tx): Promise<T> => {
    const done = await inside(opened, tx)
    // The caller was already told that the request failed, so nothing may be committed.
    signal?.throwIfAborted()
    requireHeld()
    return done
  }
  if (name !== undefined && authorizeAgain !== undefined) {
    let opened: R
    let asOf: FeedPositions | undefined
    const ready = async (): Promise<void> => {
      signal?.throwIfAborted()
      asOf = withoutOwn(access?.asOf?.(), name)
      opened = await openAgain()
    }
    return store.transact((tx) => work(opened, tx), { name, ready, asOf: () => asOf })
  }
  const write = (opened: R, mode: string | Optimistic | undefined): Promise<T> =>
    store.transact((tx) => work(opened, tx), mode)
  const decision = await open(input)
  if (positions === undefined || authorizeAgain === undefined) return write(decision, name)
  return transactOptimistically({ positions, decision }, openAgain, write)
}

/** Nobody else moves the feed of a transaction that is alone. */
function withoutOwn(positions: FeedPositions | undefined, name: string): FeedPositions | undefined {
  const others = Object.entries(positions ?? {}).filter(([feed]) => feed !== name)
  return others.length === 0 ? undefined : Object.fromEntries(others)
}
