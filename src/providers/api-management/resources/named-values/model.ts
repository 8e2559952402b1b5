/** The stored form of a named value; a secret one is sealed for its resource. */

export interface NamedValue {
  /** The resource id in lower case: the context of a sealed value. */
  readonly place: string
  readonly displayName: string
  readonly secret: boolean
  readonly tags?: readonly string[]
  /** The value in plain text; a secret one is sealed instead. */
  readonly value?: string
  readonly sealedValue?: string
  /** The vault of the value in another installation; stored as written. */
  readonly keyVault?: object
}
