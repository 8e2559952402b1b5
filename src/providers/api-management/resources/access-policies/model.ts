/** An access policy as it is stored. */

export interface AccessPolicy {
  readonly tenantId: string
  readonly objectId: string
  readonly appIds: readonly string[]
  /** The service's location. */
  readonly location?: string
}
