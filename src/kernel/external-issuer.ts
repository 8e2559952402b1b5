/** An external identity provider whose tokens are accepted, as the setting describes it. */

export interface ExternalIssuer {
  /** The exact `iss` claim of its tokens. */
  readonly issuer: string
  /** The address of its keys; found by discovery below the issuer when left out. */
  readonly jwksUri?: string
  /** A token must name one of these. */
  readonly audiences: readonly string[]
  /** Names of claims. Every token must have `oid`; a value that is no UUID is converted into one. */
  readonly claims: {
    readonly oid: string
    readonly tenant?: string
    readonly name?: string
    readonly groups?: string
  }
  /** The required tenant claim; the installation's own tenant when left out. */
  readonly tenantId?: string
}
