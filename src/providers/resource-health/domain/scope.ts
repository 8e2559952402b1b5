/** The scope of a health request: the installation, a subscription, or one of its resources. */

import { refuse } from '#kernel/error.ts'
import { type ResourceId, subscriptionOf } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import { refuseHealth } from '../errors.ts'
import type { HealthEvent } from './event.ts'
import { audiencesOf, everybody, installation } from './event-store.ts'
import { impactsOf, type ServiceNames } from './impact-match.ts'

export type RequestedScope =
  | { readonly kind: 'installation' }
  | { readonly kind: 'subscription'; readonly subscription: string }
  | {
      readonly kind: 'resource'
      /** In lower case; absent for resources of the tenant. */
      readonly subscription: string | undefined
      readonly resource: Resource
    }

/** Throws `ResourceNotFound` where no such resource is stored. */
export async function requestedScopeAt(scope: ResourceId, reader: Reader): Promise<RequestedScope> {
  if (scope.key === '/') return { kind: 'installation' }
  const subscription = subscriptionOf(scope)?.toLowerCase()
  if (subscription !== undefined && isSubscription(scope)) {
    return { kind: 'subscription', subscription }
  }
  const resource = await reader.get(scope)
  if (resource === undefined) throw refuse.ResourceNotFound({ id: scope.text })
  return { kind: 'resource', subscription, resource }
}

/** The scope at which events are published and changed: the installation or a subscription. Refuses others. */
export function ownerAt(scope: ResourceId): string {
  if (scope.key === '/' || isSubscription(scope)) return scope.key
  throw refuseHealth.InvalidEvent({
    reason: `events are published at the installation or at a subscription, not at '${scope.text}'.`,
  })
}

/** The audiences whose lists the caller reads. */
export function audiencesAt(requested: RequestedScope): readonly string[] {
  if (requested.kind === 'installation') return [installation]
  return requested.subscription === undefined ? [everybody] : [requested.subscription, everybody]
}

/** A caller does not see an event that does not affect them. */
export function isVisible(
  event: HealthEvent,
  requested: RequestedScope,
  serviceNames: ServiceNames,
): boolean {
  if (requested.kind === 'installation') return true
  const audiences = audiencesAt(requested)
  if (!audiencesOf(event).some((one) => audiences.includes(one))) return false
  if (requested.kind === 'subscription') return true
  const { id, location } = requested.resource
  return impactsOf(event, serviceNames).touches({ id, location })
}

function isSubscription({ key }: ResourceId): boolean {
  return /^\/subscriptions\/[^/]+$/.test(key)
}
