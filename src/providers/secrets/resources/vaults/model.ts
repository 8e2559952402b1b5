/** The stored shape of a vault: it only holds secrets together, so that one scope grants all of them. */

export interface Vault {
  readonly description?: string
}
