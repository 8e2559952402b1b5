/**
 * The stored form of a subscription to APIs. It has two keys, so that one can be changed while the other is in use.
 */

import { parentOf, type ResourceId } from '#kernel/resource-id.ts'

export const subscriptionStates = [
  'suspended',
  'active',
  'expired',
  'submitted',
  'rejected',
  'cancelled',
] as const

export interface Subscription {
  /** The resource id in lower case: the context of the sealed keys. */
  readonly place: string
  readonly displayName: string
  /** The id of a product, of an API, or of all APIs of the service. */
  readonly scope: string
  readonly ownerId?: string
  readonly state: (typeof subscriptionStates)[number]
  readonly stateComment?: string
  readonly allowTracing: boolean
  readonly sealedPrimaryKey: string
  readonly sealedSecondaryKey: string
}

/** What it is to, where its service is now: a move changes the ids of both, and the model stays as it was written. */
export function scopeAt(id: ResourceId, { place, scope }: Subscription): string {
  const before = `${serviceOf(place)}/`
  const isOwn = scope.toLowerCase().startsWith(before)
  return isOwn ? `${parentOf(id).key}/${scope.slice(before.length)}` : scope
}

/** The key of the service of a subscription's key. */
export function serviceOf(place: string): string {
  return place.split('/').slice(0, -2).join('/')
}
