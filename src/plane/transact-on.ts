/**
 * The transaction in which resources of one type are written. Types whose changes go to a feed decide by each other (who
 * has which role, where a group lies), so writes of one feed run one at a time, in all processes.
 */

import type { Tx } from '#stores/store.ts'
import type { CompiledType } from './compiled-type.ts'
import type { PlaneDependencies } from './dependencies.ts'

export function transactOn<T>(
  { store }: Pick<PlaneDependencies, 'store'>,
  { stored }: Pick<CompiledType, 'stored'>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return store.transact(work, stored?.feed)
}
