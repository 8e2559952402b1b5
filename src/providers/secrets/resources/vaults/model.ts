/** The stored form of a vault. It groups secrets, so that one scope grants all of them. */

export interface Vault {
  readonly description?: string
}
