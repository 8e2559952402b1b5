/** Which events affect a resource: by its subscription, its location, and its service (operation 7). */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { HealthEvent } from './event.ts'
import { plain } from './event-transitions.ts'

/** What is known of a resource here. */
interface Reached {
  readonly id: ResourceId
  readonly location: string | undefined
}

/** The names of a namespace's service in lower case. The namespace is in lower case, without the vendor word. */
export type ServiceNames = (namespace: string) => readonly string[]

/** The names that the providers declare. They are read at the first call, when all are declared. */
export function serviceNamesOf(served: () => readonly Provider[]): ServiceNames {
  let names: ReadonlyMap<string, readonly string[]> | undefined
  return (namespace) => {
    names ??= new Map(
      served().map((one) => [
        one.namespace.toLowerCase(),
        (one.serviceNames ?? []).map((name) => name.toLowerCase()),
      ]),
    )
    return names.get(namespace) ?? []
  }
}

/** Names that mean all regions. */
const everywhere = new Set(['global', 'all'])

/** The service names of a resource in lower case: the declared ones, its namespace, and its type. */
function servicesOf(id: ResourceId, serviceNames: ServiceNames): ReadonlySet<string> {
  const last = id.segments.at(-1)
  const namespace = (last?.namespace ?? '').toLowerCase()
  const short = namespace.slice(namespace.indexOf('.') + 1)
  return new Set([
    ...serviceNames(short),
    namespace,
    short,
    [namespace, ...(last?.types ?? [])].join('/').toLowerCase(),
  ])
}

/** Tells whether a resource is impacted by an event now, or only whether it is named by it. */
export interface Impacts {
  touches(reached: Reached): boolean
  names(id: ResourceId): boolean
}

/**
 * Made once for all resources that an event is compared with: it may name a thousand, and thousands of regions. Regions
 * that have ended do not count.
 */
export function impactsOf(event: HealthEvent, serviceNames: ServiceNames): Impacts {
  const named = new Set(event.impactedResources.map((one) => one.targetResourceId.toLowerCase()))
  const everyRegion = new Set<string>()
  const byService = new Map<string, Set<string>>()
  for (const { impactedService, impactedRegions } of event.properties.impact) {
    const service = impactedService.toLowerCase()
    if (impactedRegions.length === 0) everyRegion.add(service)
    const regions = byService.get(service) ?? new Set()
    byService.set(service, regions)
    for (const { status, impactedRegion } of impactedRegions) {
      const region = plain(impactedRegion)
      if (status === 'Active') regions.add(region)
      if (status === 'Active' && everywhere.has(region)) everyRegion.add(service)
    }
  }
  const isIn = (service: string, location: string | undefined): boolean => {
    if (everyRegion.has(service)) return true
    const regions = byService.get(service)
    if (regions === undefined) return false
    return location === undefined ? regions.size > 0 : regions.has(plain(location))
  }
  return {
    names: (id) => named.has(id.key),
    touches: ({ id, location }) =>
      named.has(id.key) ||
      [...servicesOf(id, serviceNames)].some((service) => isIn(service, location)),
  }
}
