/** Which failures of a transaction are worth a retry. The stores wait and count. */

import { StoreConflict } from './store.ts'

/** The claim went to another owner. It never comes back, so a retry would be useless. */
export class LostClaim extends StoreConflict {}

/** A race was lost over a row: with fresh reads the work may decide otherwise. */
export function isWorthAnotherTry(error: unknown): boolean {
  return (
    error instanceof StoreConflict && error.unique === undefined && !(error instanceof LostClaim)
  )
}
