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

/** Whether the event impacts the resource now. Regions that have ended do not count. */
export function isImpacted(
  event: HealthEvent,
  { id, location }: Reached,
  serviceNames: ServiceNames,
): boolean {
  if (isNamedBy(event, id)) return true
  const services = servicesOf(id, serviceNames)
  return event.properties.impact.some(
    (impact) =>
      services.has(impact.impactedService.toLowerCase()) &&
      (impact.impactedRegions.length === 0 ||
        impact.impactedRegions.some(
          (region) =>
            region.status === 'Active' &&
            (location === undefined ||
              everywhere.has(plain(region.impactedRegion)) ||
              plain(region.impactedRegion) === plain(location)),
        )),
  )
}

export function isNamedBy(event: HealthEvent, id: ResourceId): boolean {
  return event.impactedResources.some((one) => one.targetResourceId.toLowerCase() === id.key)
}
