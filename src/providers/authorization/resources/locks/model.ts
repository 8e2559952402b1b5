/** A lock: prevents changes that the caller would be allowed to make, at its scope and below. */

export const lockLevels = ['CanNotDelete', 'ReadOnly'] as const
type LockLevel = (typeof lockLevels)[number]

export interface Lock {
  readonly level: LockLevel
  readonly notes?: string
  /** Applications that own it; shown only. */
  readonly owners?: readonly { readonly applicationId: string }[]
}
