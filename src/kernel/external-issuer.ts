/** An identity provider beside our own whose tokens are taken, as the setting names it and identity trusts it. */

export interface ExternalIssuer {
  /** As the `iss` claim says it, exactly. */
  readonly issuer: string
  /** Where its keys are; found by discovery below the issuer when left out. */
  readonly jwksUri?: string
  /** A token must be for one of these. */
  readonly audiences: readonly string[]
  /** Names of claims. `oid` must be in every token; one that is no UUID is made into one. */
  readonly claims: {
    readonly oid: string
    readonly tenant?: string
    readonly name?: string
    readonly groups?: string
  }
  /** What the tenant claim must be; the installation's own tenant when left out. */
  readonly tenantId?: string
}
