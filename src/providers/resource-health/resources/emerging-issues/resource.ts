/** What is wrong for everybody and not yet understood: the events of that type that go on. Computed. */

import Type from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { HealthEvent } from '../../domain/event.ts'
import { beginningOfTime, type EventStore, everybody, isActive } from '../../domain/event-store.ts'

const type = 'ResourceHealth/emergingIssues'
const only = 'default'
/** The number of current events that are looked through. */
const eventsMax = 200

const text = Type.String()
const named = { id: text, name: text }
const answer = Type.Object({
  properties: Type.Object({
    refreshTimestamp: text,
    statusBanners: Type.Array(Type.Object({}, { additionalProperties: true })),
    statusActiveEvents: Type.Array(
      Type.Object({
        title: Type.Optional(text),
        description: Type.Optional(text),
        trackingId: text,
        startTime: Type.Optional(text),
        lastModifiedTime: Type.Optional(text),
        severity: Type.Enum(['Information', 'Warning', 'Error']),
        stage: Type.Enum(['Active', 'Resolve', 'Archived']),
        published: Type.Boolean(),
        impacts: Type.Array(Type.Object({ ...named, regions: Type.Array(Type.Object(named)) })),
      }),
    ),
  }),
})

interface IssueDependencies {
  readonly words: VendorWords
  readonly eventStore: EventStore
}

export function emergingIssues(deps: IssueDependencies, versions: readonly string[]): ResourceType {
  return defineComputed({
    type,
    description: 'What is wrong for everybody and not yet understood.',
    scope: 'tenant',
    apiVersions: versions,
    answer,
    source: {
      get: async ({ id, now }) =>
        nameOf(id).toLowerCase() === only ? issues(deps, now) : undefined,
      list: async ({ now }) => ({ items: [await issues(deps, now)] }),
    },
  })
}

async function issues({ words, eventStore }: IssueDependencies, now: number): Promise<object> {
  const { rows } = await eventStore.places({
    audience: everybody,
    since: beginningOfTime,
    after: undefined,
    condition: (sql) => sql<boolean>`${isActive(sql)} and event_type = ${'emergingissues'}`,
    limit: eventsMax,
  })
  const found = await eventStore.findAll(rows.map(({ id }) => id))
  const current = [...found.values()].filter(
    ({ properties: { isEventSensitive } }) => isEventSensitive !== true,
  )
  const full = qualify(words, type)
  return {
    id: `/providers/${full}/${only}`,
    name: only,
    type: full,
    properties: {
      refreshTimestamp: new Date(now).toISOString(),
      statusBanners: [],
      statusActiveEvents: current.map(show),
    },
  }
}

const severities = {
  Critical: 'Error',
  Error: 'Error',
  Warning: 'Warning',
  Informational: 'Information',
} as const

function show({ trackingId, properties }: HealthEvent): object {
  const { title, description, summary, impactStartTime, lastUpdateTime } = properties
  const { eventLevel = 'Informational' } = properties
  return {
    ...(title === undefined ? {} : { title }),
    ...((description ?? summary) === undefined ? {} : { description: description ?? summary }),
    trackingId,
    startTime: impactStartTime,
    lastModifiedTime: lastUpdateTime,
    severity: severities[eventLevel],
    stage: 'Active',
    published: true,
    impacts: properties.impact.map(({ impactedService, impactedServiceGuid, impactedRegions }) => ({
      id: impactedServiceGuid ?? impactedService,
      name: impactedService,
      regions: impactedRegions.map(({ impactedRegion }) => ({
        id: impactedRegion,
        name: impactedRegion,
      })),
    })),
  }
}
