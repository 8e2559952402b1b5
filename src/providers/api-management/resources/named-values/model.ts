/** A named value as it is stored: a secret one is sealed for its place. */

export interface NamedValue {
  /** The resource id in lower case: what a secret value is sealed for. */
  readonly place: string
  readonly displayName: string
  readonly secret: boolean
  readonly tags?: readonly string[]
  /** The value in plain text; a secret one is sealed instead. */
  readonly value?: string
  readonly sealedValue?: string
  /** Where another installation would look the value up; kept as written. */
  readonly keyVault?: object
}
