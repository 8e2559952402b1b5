/** A service: the parent of APIs. Nothing runs for it. */

export const skuNames = [
  'Developer',
  'Standard',
  'Premium',
  'Basic',
  'Consumption',
  'Isolated',
  'BasicV2',
  'StandardV2',
] as const

export interface Service {
  readonly sku: { readonly name: (typeof skuNames)[number]; readonly capacity: number }
  readonly publisherEmail: string
  readonly publisherName: string
  /** What clients write about a gateway. There is none; it is stored, and answered as written. */
  readonly gateway?: Readonly<Record<string, unknown>>
  readonly zones?: readonly string[]
  readonly identity?: ServiceIdentity
}

/** What a service may sign in as. Nothing runs for it, but rights can be given to it. */
export interface ServiceIdentity {
  readonly type: string
  readonly tenantId: string
  /** The principal of its system-assigned identity. */
  readonly principalId?: string
  /** User-assigned identities by their ids, as written. One that is not there has no ids. */
  readonly userAssigned?: Readonly<
    Record<string, { readonly clientId?: string; readonly principalId?: string }>
  >
}
