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
}
