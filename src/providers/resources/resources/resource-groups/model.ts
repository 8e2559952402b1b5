/** A resource group: what lives and goes together. Its location and tags are the envelope's. */

export interface ResourceGroup {
  /** The id of the resource that manages this group, if one does. */
  readonly managedBy?: string
}

/** Letters, digits and `-_.()`, at most 90, no period at the end (facts 9.2). */
export const groupNamePattern: RegExp = /^[-\p{L}\p{N}_.()]{1,90}(?<!\.)$/u
