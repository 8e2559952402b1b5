/** A lock: what is kept from change although the caller may change it. Holds for its scope and all below. */

export const lockLevels = ['CanNotDelete', 'ReadOnly'] as const
type LockLevel = (typeof lockLevels)[number]

export interface Lock {
  readonly level: LockLevel
  readonly notes?: string
  /** Applications that own it; told, not judged. */
  readonly owners?: readonly { readonly applicationId: string }[]
}
