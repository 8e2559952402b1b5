/** The properties of a service health event that the documents leave open, and what is derived from them. */

import type { Envelope } from '../../api/queries.ts'

interface Update {
  readonly summary?: string
  readonly updateDateTime?: string
  readonly eventTags?: readonly string[]
}

interface Region {
  readonly impactedRegion: string
  readonly status?: string
  readonly lastUpdateTime?: string
  readonly updates?: readonly Update[]
}

export interface HealthEvent extends Envelope {
  readonly properties: {
    readonly title?: string
    readonly summary?: string
    readonly description?: string
    readonly eventType?: string
    readonly eventLevel?: string
    readonly status?: string
    readonly isEventSensitive?: boolean
    readonly lastUpdateTime?: string
    readonly impactStartTime?: string
    readonly impactMitigationTime?: string
    readonly impact?: readonly {
      readonly impactedService: string
      readonly impactedRegions: readonly Region[]
    }[]
  }
}

export const healthVersion = { 'api-version': '2025-05-01' }

/** The address of an event's page. */
export function eventLink(name: string, where: string): string {
  return `/health?event=${encodeURIComponent(name)}${where === 'all' ? '&where=all' : ''}`
}

const levels = ['Informational', 'Warning', 'Error', 'Critical']

/** Each event once, although several subscriptions may have it; the worst level first, then the one updated last. */
export function worstFirst(events: readonly HealthEvent[]): readonly HealthEvent[] {
  const byName = new Map(events.map((one) => [one.name, one]))
  const rank = ({ properties }: HealthEvent): number =>
    levels.indexOf(properties.eventLevel ?? 'Informational')
  const updated = ({ properties }: HealthEvent): string => properties.lastUpdateTime ?? ''
  return [...byName.values()].toSorted(
    (a, b) => rank(b) - rank(a) || updated(b).localeCompare(updated(a)),
  )
}

export interface BoardRow {
  readonly service: string
  /** The worst level of an active event by region; undefined if the service works there. */
  readonly byRegion: ReadonlyMap<string, { readonly level: string; readonly event: string }>
}

/** The services named by events of the time range, with the worst active level. */
export function boardOf(events: readonly HealthEvent[]): {
  readonly regions: readonly string[]
  readonly rows: readonly BoardRow[]
} {
  const regions = new Set<string>()
  const services = new Map<string, Map<string, { level: string; event: string }>>()
  for (const { name, properties } of events) {
    const level = properties.eventLevel ?? 'Informational'
    for (const { impactedService, impactedRegions } of properties.impact ?? []) {
      const row = services.get(impactedService) ?? new Map()
      services.set(impactedService, row)
      for (const { impactedRegion, status } of impactedRegions) {
        regions.add(impactedRegion)
        if ((status ?? properties.status) !== 'Active' || properties.status !== 'Active') continue
        const before = row.get(impactedRegion)
        if (before === undefined || levels.indexOf(level) > levels.indexOf(before.level)) {
          row.set(impactedRegion, { level, event: name })
        }
      }
    }
  }
  return {
    regions: [...regions].toSorted(),
    rows: [...services]
      .map(([service, byRegion]) => ({ service, byRegion }))
      .toSorted((a, b) => a.service.localeCompare(b.service)),
  }
}

export interface TimelineEntry {
  readonly at: string
  readonly where: string
  readonly text: string
  readonly tags: readonly string[]
}

/** All updates, the newest first. An update for several regions appears once. */
export function timelineOf({ properties }: HealthEvent): readonly TimelineEntry[] {
  const found = new Map<
    string,
    { at: string; text: string; tags: readonly string[]; where: string[] }
  >()
  for (const { impactedRegions } of properties.impact ?? []) {
    for (const { impactedRegion, updates = [] } of impactedRegions) {
      for (const { updateDateTime = '', summary = '', eventTags = [] } of updates) {
        const key = `${updateDateTime} ${summary}`
        const entry = found.get(key) ?? {
          at: updateDateTime,
          text: summary,
          tags: eventTags,
          where: [],
        }
        found.set(key, entry)
        if (!entry.where.includes(impactedRegion)) entry.where.push(impactedRegion)
      }
    }
  }
  return [...found.values()]
    .map((one) => ({ ...one, where: one.where.join(', ') }))
    .toSorted((a, b) => b.at.localeCompare(a.at))
}
