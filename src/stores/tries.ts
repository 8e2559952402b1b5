/** Which failures of a transaction are worth another try. Neither waits nor counts: the stores do. */

import { StoreConflict } from './store.ts'

/** A claim that went to another owner. It never comes back, so trying again would be for nothing. */
export class LostClaim extends StoreConflict {}

/** A race lost over a row: with fresh reads the work may decide otherwise. */
export function isWorthAnotherTry(error: unknown): boolean {
  return (
    error instanceof StoreConflict && error.unique === undefined && !(error instanceof LostClaim)
  )
}
