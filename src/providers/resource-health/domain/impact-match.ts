/** Which events affect a resource: by its subscription, its location, and its service (operation 7). */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { HealthEvent } from './event.ts'
import { plain } from './event-transitions.ts'

/** What is known of a resource here. */
interface Reached {
  readonly id: ResourceId
  readonly location: string | undefined
}

/** The names that operators use for services of resources, by namespace. */
const serviceNames: Readonly<Record<string, readonly string[]>> = {
  apimanagement: ['API Management'],
  authorization: ['Role-based access control'],
  billing: ['Billing'],
  containerinstance: ['Container Instances'],
  datashare: ['Data Share'],
  dbforpostgresql: ['Database for PostgreSQL', 'Database for PostgreSQL flexible servers'],
  managedidentity: ['Managed identities'],
  resources: ['Resource Manager'],
  secrets: ['Secrets'],
  sql: ['SQL Database'],
  storage: ['Storage'],
}

/** Names that mean all regions. */
const everywhere = new Set(['global', 'all'])

/** The service names of a resource in lower case: those above, its namespace, and its type. */
function servicesOf(id: ResourceId): ReadonlySet<string> {
  const last = id.segments.at(-1)
  const namespace = (last?.namespace ?? '').toLowerCase()
  const short = namespace.slice(namespace.indexOf('.') + 1)
  const known = Object.hasOwn(serviceNames, short) ? (serviceNames[short] ?? []) : []
  return new Set([
    ...known.map((name) => name.toLowerCase()),
    namespace,
    short,
    [namespace, ...(last?.types ?? [])].join('/').toLowerCase(),
  ])
}

/** Whether the event impacts the resource now. Regions that have ended do not count. */
export function isImpacted(event: HealthEvent, { id, location }: Reached): boolean {
  if (isNamedBy(event, id)) return true
  const services = servicesOf(id)
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
