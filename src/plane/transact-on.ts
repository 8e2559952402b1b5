/**
 * The transaction in which resources of one type are written. Types whose changes go to a feed decide by each other (who
 * has which role, where a group lies), so writes of one feed run one at a time, in all processes.
 */

import type { Tx } from '#stores/store.ts'
import type { CompiledType } from './compiled-type.ts'
import type { PlaneDependencies } from './dependencies.ts'
import type { RunInput } from './plane.ts'

type Deps = Pick<PlaneDependencies, 'store'>
type Type = Pick<CompiledType, 'stored'>

/** For writes of the installation itself. */
export function transactOn<T>(
  { store }: Deps,
  { stored }: Type,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return store.transact(work, stored?.feed)
}

interface CallersWork<R, T> {
  readonly input: RunInput
  /** Before the transaction: asks which rights the caller has, as far as the transaction needs them. */
  open(input: RunInput): Promise<R>
  inside(opened: R, tx: Tx): Promise<T>
}

/**
 * For writes of a caller. One that waits for its turn may lose its right meanwhile, by a transaction before it. So it is
 * authorized again, and opened, when its turn has come (decision 0261). Throws 401 and 403.
 */
export async function transactFor<R, T>(
  { store }: Deps,
  { stored }: Type,
  { input, open, inside }: CallersWork<R, T>,
): Promise<T> {
  const { authorizeAgain, signal } = input
  const name = stored?.feed
  const isAlone = name !== undefined && authorizeAgain !== undefined
  let opened: R | undefined = isAlone ? undefined : await open(input)
  const ready = async (): Promise<void> => {
    opened = await open({ ...input, pending: await authorizeAgain?.() })
  }
  const work = async (tx: Tx): Promise<T> => {
    // One of the two above has set it.
    const done = await inside(opened as R, tx)
    // The caller was already told that the request failed, so nothing may be committed.
    signal?.throwIfAborted()
    return done
  }
  return store.transact(work, isAlone ? { name, ready } : name)
}
