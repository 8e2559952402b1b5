/**
 * How available resources are, from what was last seen of them on their engines; and which current events touch
 * them. It observes nothing itself: each provider says of its own types what a sighting means.
 */

import { refuse } from '#kernel/error.ts'
import { nameOf, type ResourceId, scopeOf, subscriptionOf } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { defineResource, type Resource, type ResourceType } from '#plane/define.ts'
import type { HealthEvent } from './event.ts'
import { beginningOfTime, everybody, type Ledger } from './ledger.ts'
import { isReached } from './reach.ts'

export interface Sighting {
  readonly state: 'Available' | 'Unavailable' | 'Degraded' | 'Unknown'
  readonly summary: string
  readonly reasonType?: 'Unplanned' | 'Planned' | 'UserInitiated'
  /** Since when, in milliseconds, where it is known. */
  readonly since?: number
}

/** By type without the vendor word, in lower case: what is seen of a resource. */
export type Observers = Readonly<Record<string, (resource: Resource) => Sighting>>

export interface AvailabilityParts {
  readonly words: VendorWords
  readonly ledger: Ledger
  readonly services: Pick<PlaneServices, 'reader' | 'listTracked'>
  readonly observers: Observers
}

/** Current events looked at for one resource. */
const eventsMax = 200
const scannedMax = 1000

export function availabilityStatuses(
  parts: AvailabilityParts,
  versions: readonly string[],
): ResourceType {
  return defineResource({
    type: 'ResourceHealth/availabilityStatuses',
    description: 'How available resources are, by what was last seen of them.',
    scope: 'any',
    tracked: false,
    name: { pattern: /^current$/i, rule: '"current"' },
    versions: [],
    apiVersions: versions,
    source: {
      async get({ id, now, query }) {
        if (nameOf(id).toLowerCase() !== 'current') return undefined
        const target = scopeOf(id)
        const resource = await parts.services.reader.get(target)
        if (resource === undefined) throw refuse.ResourceNotFound({ id: target.text })
        const current = await currentEvents(parts, subscriptionOf(target))
        return show(parts, resource, current, now, query.get('$expand'))
      },
      async list({ parent, now, query, cursor, limit }) {
        const expand = query.get('$expand')
        const last = parent.segments.at(-1)
        const current = await currentEvents(parts, subscriptionOf(parent))
        if (last?.namespace !== undefined) {
          const resource = await parts.services.reader.get(parent)
          if (resource === undefined) throw refuse.ResourceNotFound({ id: parent.text })
          return { items: [show(parts, resource, current, now, expand)] }
        }
        const items: object[] = []
        let after = cursor
        for (let scanned = 0; scanned < scannedMax; ) {
          const page = await parts.services.listTracked({
            under: parent,
            ...(after === undefined ? {} : { after }),
            limit: Math.min(limit, 200),
          })
          for (const { resource } of page.items) {
            if (resource.id.segments.at(-1)?.namespace === undefined) continue
            items.push(show(parts, resource, current, now, expand))
            if (items.length === limit) return { items, next: resource.id.key }
          }
          if (page.next === undefined) return { items }
          after = page.next
          scanned += limit
        }
        return { items, ...(after === undefined ? {} : { next: after }) }
      },
    },
  })
}

async function currentEvents(
  { ledger }: AvailabilityParts,
  subscription: string | undefined,
): Promise<readonly HealthEvent[]> {
  const audiences = [...(subscription === undefined ? [] : [subscription.toLowerCase()]), everybody]
  const found = await Promise.all(
    audiences.map((audience) =>
      ledger.places({
        audience,
        since: beginningOfTime,
        after: undefined,
        narrowing: { text: 'status = ?', values: ['active'] },
        limit: eventsMax,
      }),
    ),
  )
  const ids = [...new Set(found.flatMap(({ places }) => places.map((place) => place.id)))]
  return [...(await ledger.findAll(ids)).values()]
}

function show(
  { words, observers }: AvailabilityParts,
  resource: Resource,
  current: readonly HealthEvent[],
  now: number,
  expand: string | null,
): object {
  const { id, location } = resource
  const touching = current.filter(
    (event) => event.properties.status === 'Active' && isReached(event, { id, location }),
  )
  const sighting = observed(resource, observers)
  const trouble = touching.find((event) => event.properties.eventType === 'ServiceIssue')
  const type = `${words.namespace}.ResourceHealth/availabilityStatuses`
  const at = new Date(now).toISOString()
  const actions =
    sighting.state === 'Available'
      ? []
      : [{ action: 'Look at the events of the resource and at its own state.' }]
  return {
    id: `${id.text}/providers/${type}/current`,
    name: 'current',
    type,
    ...(location === undefined ? {} : { location }),
    properties: {
      availabilityState: sighting.state,
      title: sighting.state,
      summary: sighting.summary,
      ...(sighting.reasonType === undefined ? {} : { reasonType: sighting.reasonType }),
      occuredTime: sighting.since === undefined ? at : new Date(sighting.since).toISOString(),
      reportedTime: at,
      reasonChronicity: 'Persistent',
      ...(trouble === undefined
        ? {}
        : {
            healthEventType: trouble.properties.eventType,
            healthEventId: trouble.trackingId,
            healthEventCause: 'PlatformInitiated',
          }),
      serviceImpactingEvents: touching.map((event) => ({
        eventStartTime: event.properties.impactStartTime,
        eventStatusLastModifiedTime: event.properties.lastUpdateTime,
        correlationId: event.trackingId,
        status: { value: event.properties.status },
        incidentProperties: {
          title: event.properties['title'],
          service: event.properties.impact[0]?.impactedService,
          incidentType: event.properties.eventType,
        },
      })),
      ...(expand?.toLowerCase() === 'recommendedactions' ? { recommendedActions: actions } : {}),
    },
  }
}

function observed(resource: Resource, observers: Observers): Sighting {
  const observer = observers[shortTypeOf(resource.id)]
  if (observer !== undefined) return observer(resource)
  return {
    state: 'Unknown',
    summary: 'No engine stands behind resources of this type, so nothing is seen of them.',
  }
}

function shortTypeOf(id: ResourceId): string {
  const last = id.segments.at(-1)
  const namespace = last?.namespace ?? ''
  return [namespace.slice(namespace.indexOf('.') + 1), ...(last?.types ?? [])]
    .join('/')
    .toLowerCase()
}
