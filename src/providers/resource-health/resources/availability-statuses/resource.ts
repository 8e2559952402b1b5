/**
 * How available resources are, from what was last seen of them on their engines; and which current events touch
 * them. It observes nothing itself: each provider says of its own types what a sighting means.
 */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf, type ResourceId, scopeOf, subscriptionOf } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListPage } from '#plane/declare/wire.ts'
import { freeTurn } from '#plane/next-turn.ts'
import type { AvailabilityCheck, Observers } from '../../domain/availability-check.ts'
import type { EventType, HealthEvent } from '../../domain/event.ts'
import { beginningOfTime, type EventStore, everybody, isActive } from '../../domain/event-store.ts'
import type { History, Past } from '../../domain/history.ts'
import { type Impacts, impactsOf, type ServiceNames } from '../../domain/impact-match.ts'

export interface AvailabilityDependencies extends Given {
  /** The word of the path that asks: clients ask for resources below others by one of their own. */
  readonly word: 'availabilityStatuses' | 'childAvailabilityStatuses'
}

interface Given {
  readonly words: VendorWords
  readonly eventStore: EventStore
  readonly history: History
  readonly services: Pick<PlaneServices, 'reader' | 'listTracked'>
  readonly observers: Observers
  readonly serviceNames: ServiceNames
}

const text = Type.String()
const answer = Type.Object({
  properties: Type.Object({
    availabilityState: Type.Enum(['Available', 'Unavailable', 'Degraded', 'Unknown']),
    title: text,
    summary: text,
    reasonType: Type.Optional(text),
    occuredTime: text,
    reportedTime: text,
    reasonChronicity: text,
    recentlyResolved: Type.Optional(
      Type.Object({ unavailableOccuredTime: text, resolvedTime: text, unavailableSummary: text }),
    ),
    healthEventType: Type.Optional(text),
    healthEventId: Type.Optional(text),
    healthEventCause: Type.Optional(text),
    serviceImpactingEvents: Type.Optional(
      Type.Array(
        Type.Object({
          eventStartTime: text,
          eventStatusLastModifiedTime: text,
          correlationId: text,
          status: Type.Object({ value: text }),
          incidentProperties: Type.Object({
            title: Type.Optional(text),
            service: Type.Optional(text),
            incidentType: text,
          }),
        }),
      ),
    ),
    recommendedActions: Type.Optional(Type.Array(Type.Object({ action: text }))),
  }),
})

/** The number of current events checked for one resource. */
const eventsMax = 200
const scannedMax = 1000
/** The number of events shown on one page, which comes back short after them. */
const shownMax = 5000

export function availabilityStatuses(
  given: Given,
  versions: readonly string[],
): readonly ResourceType[] {
  const statuses = (['availabilityStatuses', 'childAvailabilityStatuses'] as const).map((word) =>
    statusType({ ...given, word }, versions),
  )
  return [...statuses, childResources({ ...given, word: 'availabilityStatuses' }, versions)]
}

function statusType(deps: AvailabilityDependencies, versions: readonly string[]): ResourceType {
  return defineComputed({
    type: `ResourceHealth/${deps.word}`,
    description: 'How available resources are, by what was last seen of them.',
    scope: 'any',
    query: { list: ['$expand'], get: ['$expand'] },
    apiVersions: versions,
    answer: added(answer),
    source: {
      async get({ id, now, query }) {
        const target = scopeOf(id)
        const resource = await deps.services.reader.get(target)
        if (resource === undefined) throw refuse.ResourceNotFound({ id: target.text })
        if (nameOf(id).toLowerCase() !== 'current') {
          const since = momentOf(nameOf(id))
          if (Number.isNaN(since)) return undefined
          const [past] = await deps.history.past(target.key, since + 1, 1)
          return past?.since === since ? showPast(deps, resource, past) : undefined
        }
        const current = await currentEvents(deps, subscriptionOf(target))
        const past = await deps.history.past(target.key, everAfter, 2)
        return show(
          deps,
          resource,
          { touching: touchingOf(current, resource), past },
          { now, expand: query.get('$expand') },
        )
      },
      async list({ parent, now, query, cursor, limit }) {
        const expand = query.get('$expand')
        const last = parent.segments.at(-1)
        const current = await currentEvents(deps, subscriptionOf(parent))
        if (last?.namespace !== undefined) {
          const resource = await deps.services.reader.get(parent)
          if (resource === undefined) throw refuse.ResourceNotFound({ id: parent.text })
          return historyOf(deps, resource, current, { now, expand, cursor, limit })
        }
        return resourcesBelow(deps, parent, current, { now, expand, cursor, limit })
      },
    },
  })
}

/** How available the resources below a resource are. */
function childResources(deps: AvailabilityDependencies, versions: readonly string[]): ResourceType {
  return defineComputed({
    type: 'ResourceHealth/childResources',
    description: 'How available the resources below a resource are.',
    scope: 'any',
    query: { list: ['$expand'] },
    apiVersions: versions,
    answer,
    source: {
      async list({ parent, now, query, cursor, limit }) {
        if ((await deps.services.reader.get(parent)) === undefined) {
          throw refuse.ResourceNotFound({ id: parent.text })
        }
        const current = await currentEvents(deps, subscriptionOf(parent))
        const expand = query.get('$expand')
        return resourcesBelow(deps, parent, current, { now, expand, cursor, limit })
      },
    },
  })
}

/** The tracked resources below a scope or a resource. */
async function resourcesBelow(
  deps: AvailabilityDependencies,
  parent: ResourceId,
  current: readonly CurrentEvent[],
  { now, expand, cursor, limit }: StatusQuery,
): Promise<ListPage<object>> {
  const items: object[] = []
  let after = cursor
  let left = shownMax
  for (let scanned = 0; scanned < scannedMax; ) {
    const page = await deps.services.listTracked({
      under: parent,
      ...(after === undefined ? {} : { after }),
      limit: Math.min(limit, 200),
    })
    for (const { resource } of page.items) {
      if (resource.id.segments.at(-1)?.namespace === undefined) continue
      if (resource.id.key === parent.key) continue
      await freeTurn()
      const touching = touchingOf(current, resource)
      items.push(show(deps, resource, { touching }, { now, expand }))
      left -= touching.length
      if (items.length === limit || left <= 0) return { items, next: resource.id.key }
    }
    if (page.next === undefined) return { items }
    after = page.next
    scanned += limit
  }
  return { items, ...(after === undefined ? {} : { next: after }) }
}

interface StatusQuery {
  readonly now: number
  readonly expand: string | null
  readonly cursor: string | undefined
  readonly limit: number
}

/** Recorded observations count even if the recording replica's clock is ahead of this one's. */
const everAfter = 8_640_000_000_000_000

/** The current state, then earlier states, newest first. */
async function historyOf(
  deps: AvailabilityDependencies,
  resource: Resource,
  events: readonly CurrentEvent[],
  { now, expand, cursor, limit }: StatusQuery,
): Promise<ListPage<object>> {
  const before = cursor === undefined ? everAfter : Number(cursor)
  const past = await deps.history.past(resource.id.key, before, limit + 1)
  const isNow = cursor === undefined && isSame(past[0], observed(resource, deps.observers))
  const rest = isNow ? past.slice(1) : past
  const first =
    cursor === undefined
      ? [show(deps, resource, { touching: touchingOf(events, resource), past }, { now, expand })]
      : []
  const shown = rest.slice(0, limit - first.length)
  const last = shown.at(-1)
  const items = [...first, ...shown.map((one) => showPast(deps, resource, one))]
  if (rest.length === shown.length) return { items }
  return { items, next: String(last?.since ?? (isNow ? past[0]?.since : undefined) ?? before) }
}

function isSame(past: Past | undefined, { state, reasonType }: AvailabilityCheck): boolean {
  return past?.state === state && past.reasonType === reasonType
}

/** `20261015120000000`: when it began. */
function nameOfMoment(since: number): string {
  return new Date(since).toISOString().replace(/\D/g, '')
}

function momentOf(name: string): number {
  const [, date, hour, minute, second, rest] = /^(\d{8})(\d\d)(\d\d)(\d\d)(\d{3})$/.exec(name) ?? []
  const day = date?.replace(/^(\d{4})(\d\d)/, '$1-$2-')
  return Date.parse(`${day}T${hour}:${minute}:${second}.${rest}Z`)
}

function showPast(
  { words, word }: AvailabilityDependencies,
  { id, location }: Resource,
  past: Past,
): object {
  const type = qualify(words, `ResourceHealth/${word}`)
  const name = nameOfMoment(past.since)
  const at = new Date(past.since).toISOString()
  return {
    id: `${id.text}/providers/${type}/${name}`,
    name,
    type,
    ...(location === undefined ? {} : { location }),
    properties: {
      availabilityState: past.state,
      title: past.state,
      summary: past.summary,
      ...(past.reasonType === undefined ? {} : { reasonType: past.reasonType }),
      occuredTime: at,
      reportedTime: at,
      reasonChronicity: 'Persistent',
    },
  }
}

async function currentEvents(
  { eventStore, serviceNames }: AvailabilityDependencies,
  subscription: string | undefined,
): Promise<readonly CurrentEvent[]> {
  const audiences = [...(subscription === undefined ? [] : [subscription.toLowerCase()]), everybody]
  const found = await Promise.all(
    audiences.map((audience) =>
      eventStore.places({
        audience,
        since: beginningOfTime,
        after: undefined,
        condition: isActive,
        limit: eventsMax,
      }),
    ),
  )
  // The newest of each audience: nobody crowds out the events of the installation.
  const events = new Map<string, CurrentEvent>()
  for (const { rows } of found) {
    const ids = rows.map((place) => place.id).filter((id) => !events.has(id))
    for (const [id, event] of await eventStore.findAll(ids)) {
      if (event.properties.status === 'Active') events.set(id, currentOf(event, serviceNames))
      await freeTurn()
    }
  }
  return [...events.values()]
}

function touchingOf(
  current: readonly CurrentEvent[],
  { id, location }: Resource,
): readonly CurrentEvent[] {
  return current.filter(({ impacts }) => impacts.touches({ id, location }))
}

/** What is kept of an event for the resources of a page. */
interface CurrentEvent {
  readonly impacts: Impacts
  readonly type: EventType
  readonly trackingId: string
  readonly shown: object
}

function currentOf(event: HealthEvent, serviceNames: ServiceNames): CurrentEvent {
  const { trackingId, properties } = event
  return {
    impacts: impactsOf(event, serviceNames),
    type: properties.eventType,
    trackingId,
    shown: {
      eventStartTime: properties.impactStartTime,
      eventStatusLastModifiedTime: properties.lastUpdateTime,
      correlationId: trackingId,
      status: { value: properties.status },
      incidentProperties: {
        title: properties['title'],
        service: properties.impact[0]?.impactedService,
        incidentType: properties.eventType,
      },
    },
  }
}

function show(
  { words, word, observers }: AvailabilityDependencies,
  resource: Resource,
  {
    touching,
    past = [],
  }: { readonly touching: readonly CurrentEvent[]; readonly past?: readonly Past[] },
  { now, expand }: { readonly now: number; readonly expand: string | null },
): object {
  const { id, location } = resource
  const check = observed(resource, observers)
  const issue = touching.find((event) => event.type === 'ServiceIssue')
  const type = qualify(words, `ResourceHealth/${word}`)
  const [last, earlier] = past
  const isKnown = isSame(last, check)
  const since = check.since ?? (isKnown ? last?.since : undefined)
  const at = new Date(now).toISOString()
  const actions =
    check.state === 'Available'
      ? []
      : [{ action: 'Look at the events of the resource and at its own state.' }]
  return {
    id: `${id.text}/providers/${type}/current`,
    name: 'current',
    type,
    ...(location === undefined ? {} : { location }),
    properties: {
      availabilityState: check.state,
      title: check.state,
      summary: check.summary,
      ...(check.reasonType === undefined ? {} : { reasonType: check.reasonType }),
      occuredTime: since === undefined ? at : new Date(since).toISOString(),
      reportedTime: at,
      reasonChronicity: 'Persistent',
      ...recentlyResolved(check, now, isKnown ? last : undefined, earlier),
      ...(issue === undefined
        ? {}
        : {
            healthEventType: issue.type,
            healthEventId: issue.trackingId,
            healthEventCause: 'PlatformInitiated',
          }),
      serviceImpactingEvents: touching.map(({ shown }) => shown),
      ...(expand?.toLowerCase() === 'recommendedactions' ? { recommendedActions: actions } : {}),
    },
  }
}

const recentMilliseconds = 86_400_000

/** A state that was bad until less than a day ago. */
function recentlyResolved(
  { state }: AvailabilityCheck,
  now: number,
  last: Past | undefined,
  earlier: Past | undefined,
): object {
  if (state !== 'Available' || earlier?.state !== 'Unavailable') return {}
  if (last === undefined || now - last.since > recentMilliseconds) return {}
  return {
    recentlyResolved: {
      unavailableOccuredTime: new Date(earlier.since).toISOString(),
      resolvedTime: new Date(last.since).toISOString(),
      unavailableSummary: earlier.summary,
    },
  }
}

function observed(resource: Resource, observers: Observers): AvailabilityCheck {
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
