/** A subscription: the outermost scope that resources live in. */

export interface Subscription {
  readonly displayName: string
  /** `Disabled` after it was cancelled: everything in it can be read, nothing written. */
  readonly state: 'Enabled' | 'Disabled'
  readonly tags: Readonly<Record<string, string>>
}

export const displayNameMax = 64
