/** A management group as it is stored: what it is called, and the group that it lies in. */

export interface ManagementGroup {
  readonly displayName: string
  /** The name of the group it lies in, in lower case. Undefined: the group of the tenant. */
  readonly parent?: string
  /** It would be moved, and nobody has asked for the rights that this takes. Rules refuse it, so it is never stored. */
  readonly isUnchecked?: true
}
