/**
 * The life of an event, as pure functions: published, updated, mitigated, resolved, annotated. Every change moves
 * `lastUpdateTime`; times, durations and priorities are computed here and nowhere else.
 */

import type { Problem } from '#kernel/error.ts'
import type {
  EventLevel,
  EventProperties,
  EventStatus,
  EventType,
  HealthEvent,
  Impact,
  WrittenEvent,
  WrittenStep,
} from './event.ts'
import { priorityOf } from './priority.ts'

export type Changed =
  | { readonly ok: true; readonly event: HealthEvent }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** The number of updates kept per region; the oldest are removed. */
const updatesMax = 200
/** The characters of an event as JSON, which is read and written in one go. */
const eventCharactersMax = 1024 * 1024
/** The characters of the rows by which an event is found: one for each subscription that it names, with all services and regions. */
const rowCharactersMax = 2 * 1024 * 1024
const rowCharacters = 100

export function published(
  {
    trackingId,
    owner,
    by = 'system',
  }: { readonly trackingId: string; readonly owner: string; readonly by?: string },
  { properties, impactedResources = [] }: WrittenEvent,
  now: number,
): Changed {
  const problems: Problem[] = []
  if (properties['eventType'] === undefined) {
    problems.push({ path: 'properties.eventType', message: 'is required' })
  }
  if (properties['title'] === undefined) {
    problems.push({ path: 'properties.title', message: 'is required' })
  }
  if (problems.length > 0) return { ok: false, problems }
  const at = new Date(now).toISOString()
  return completed(
    {
      trackingId,
      owner,
      publishedAt: now,
      publishedBy: by,
      changedBy: by,
      fixedPriority: properties['priority'] !== undefined,
      impactedResources,
    },
    {
      eventSource: 'ServiceHealth',
      isEventSensitive: false,
      impactStartTime: at,
      status: 'Active',
      ...properties,
      impact: impactOf(properties['impact'], [], now),
    },
    now,
  )
}

/** Given properties replace the old ones; a region that stays keeps its updates. */
export function updated(event: HealthEvent, given: WrittenEvent, now: number): Changed {
  const { properties, impactedResources = event.impactedResources } = given
  const impact =
    properties['impact'] === undefined
      ? event.properties.impact
      : impactOf(properties['impact'], event.properties.impact, now)
  return completed(
    {
      ...event,
      impactedResources,
      fixedPriority: event.fixedPriority || properties['priority'] !== undefined,
    },
    { ...event.properties, ...properties, impact },
    now,
  )
}

/** Ends the impact in the named regions. Once it has ended in all, the event gets its mitigation time. */
export function mitigated(event: HealthEvent, step: WrittenStep, now: number): Changed {
  return ofRegions(event, step, now, { status: 'Resolved', over: false })
}

/** Ends the event with all its regions: without the note where there is no room for it. */
export function resolved(event: HealthEvent, step: WrittenStep, now: number): Changed {
  const { regions: _all, ...rest } = step
  return evenIfLarge(event, rest, now, { status: 'Resolved', over: true })
}

/** A note of the installation's own, which is left out where there is no room for it. */
export function reported(event: HealthEvent, step: WrittenStep, now: number): Changed {
  return evenIfLarge(event, step, now, { over: false })
}

function evenIfLarge(event: HealthEvent, step: WrittenStep, now: number, how: How): Changed {
  const { summary: _note, eventTags: _tags, ...rest } = step
  const whole = ofRegions(event, step, now, how)
  return whole.ok ? whole : ofRegions(event, rest, now, { ...how, isUnbounded: true })
}

/** Adds a note for readers of the event; its state stays. */
export function annotated(event: HealthEvent, step: WrittenStep, now: number): Changed {
  return ofRegions(event, step, now, { over: false })
}

interface How {
  readonly status?: EventStatus
  readonly over: boolean
  readonly isUnbounded?: boolean
}

function ofRegions(
  event: HealthEvent,
  step: WrittenStep,
  now: number,
  { status, over, isUnbounded = false }: How,
): Changed {
  const { properties } = event
  const known = new Set(
    properties.impact.flatMap((one) =>
      one.impactedRegions.map((region) => plain(region.impactedRegion)),
    ),
  )
  const unknown = (step.regions ?? []).filter((name) => !known.has(plain(name)))
  if (unknown.length > 0) {
    return {
      ok: false,
      problems: unknown.map((name) => ({
        path: 'regions',
        message: `the event has no impact on '${name}'`,
      })),
    }
  }
  const at = new Date(now).toISOString()
  const { summary, eventTags } = step
  const update =
    summary === undefined && eventTags === undefined
      ? []
      : [
          {
            ...(summary === undefined ? {} : { summary }),
            updateDateTime: at,
            ...(eventTags === undefined ? {} : { eventTags }),
          },
        ]
  const named = step.regions && new Set(step.regions.map(plain))
  const impact = properties.impact.map((one) => ({
    ...one,
    impactedRegions: one.impactedRegions.map((region) =>
      named?.has(plain(region.impactedRegion)) === false
        ? region
        : {
            ...region,
            status: status ?? region.status,
            lastUpdateTime: at,
            updates: [...update, ...region.updates].slice(0, updatesMax),
          },
    ),
  }))
  const isMitigated = impact.every((one) =>
    one.impactedRegions.every((region) => region.status === 'Resolved'),
  )
  const ended =
    status === 'Resolved' && isMitigated && properties.impactMitigationTime === undefined
      ? { impactMitigationTime: step.at ?? at }
      : {}
  const tags = [...new Set([...textsOf(properties['eventTags']), ...(eventTags ?? [])])]
  return completed(
    event,
    {
      ...properties,
      ...ended,
      impact,
      ...(tags.length === 0 ? {} : { eventTags: tags }),
      ...(over ? { status: 'Resolved' } : {}),
    },
    now,
    isUnbounded,
  )
}

/** Names of regions and locations are compared by this: `West US` and `westus` are the same. */
export function plain(name: string): string {
  return name.toLowerCase().replaceAll(' ', '')
}

/** Computes what can be computed, and refuses contradictions. */
function completed(
  event: Omit<HealthEvent, 'properties'>,
  given: Readonly<Record<string, unknown>> & { readonly impact: readonly Impact[] },
  now: number,
  isUnbounded = false,
): Changed {
  // The schema allows nothing else, and these are required or have defaults.
  const eventType = given['eventType'] as EventType
  const status = given['status'] as EventStatus
  const level = given['level']
  const eventLevel = (given['eventLevel'] ??
    (level === 'Critical' || level === 'Warning' ? level : 'Informational')) as EventLevel
  const start = String(given['impactStartTime'])
  const end = given['impactMitigationTime']
  const seconds =
    typeof end === 'string' ? Math.round((Date.parse(end) - Date.parse(start)) / 1000) : undefined
  if (seconds !== undefined && seconds < 0) {
    const message = 'expected a time that is not before impactStartTime'
    return { ok: false, problems: [{ path: 'properties.impactMitigationTime', message }] }
  }
  const computed = priorityOf(eventType, eventLevel, status)
  const properties: EventProperties = {
    ...given,
    eventType,
    eventSource: String(given['eventSource']),
    status,
    eventLevel,
    impactStartTime: start,
    lastUpdateTime: new Date(now).toISOString(),
    // The schema allows only whole numbers.
    priority: event.fixedPriority ? (given['priority'] as number) : computed,
    isEventSensitive: given['isEventSensitive'] === true,
    ...(seconds === undefined ? {} : { duration: Math.min(seconds, 2_147_483_647) }),
  }
  const made = { ...event, properties }
  return isUnbounded ? { ok: true, event: made } : withinLimit(made)
}

/** Without the oldest updates, where all are too many: the same update may be one of thousands of regions. */
function withinLimit(event: HealthEvent): Changed {
  if (charactersOfRows(event) > rowCharactersMax) {
    const message = `with the names of all services and regions for each subscription that it names, the event would be found by more than ${rowCharactersMax} characters`
    return { ok: false, problems: [{ path: 'properties.impact', message }] }
  }
  const lengths = new Map<object, number>()
  const lengthOf = (update: object): number => {
    const length = lengths.get(update) ?? JSON.stringify(update).length
    lengths.set(update, length)
    return length
  }
  const bare = JSON.stringify(withUpdates(event, 0)).length
  const fits = (kept: number): boolean => {
    let left = eventCharactersMax - bare
    for (const { impactedRegions } of event.properties.impact) {
      for (const { updates } of impactedRegions) {
        for (const update of updates.slice(0, kept)) left -= lengthOf(update)
        if (left < 0) return false
      }
    }
    return true
  }
  for (let kept = updatesMax; kept >= 1; kept = Math.floor(kept / 2)) {
    if (!fits(kept)) continue
    return { ok: true, event: kept === updatesMax ? event : withUpdates(event, kept) }
  }
  const message = `the event would have more than ${eventCharactersMax} characters, with what each of its regions has`
  return { ok: false, problems: [{ path: 'properties.impact', message }] }
}

/** An event of a subscription is for that one alone, whatever it names. */
function charactersOfRows({ owner, properties: { impact } }: HealthEvent): number {
  if (owner !== '/') return 0
  const characters = servicesOf(impact).length + regionsOf(impact).length + rowCharacters
  return namedSubscriptions(impact).size * characters
}

/** `|a|b|`: a value is found as `|a|`. */
function listed(names: readonly string[]): string {
  // Text in PostgreSQL holds no NUL.
  return `|${[...new Set(names)].join('|').replaceAll('\u0000', '')}|`
}

/** By which the rows of an event are found. */
export function servicesOf(impact: readonly Impact[]): string {
  return listed(impact.map((one) => one.impactedService.toLowerCase()))
}

export function regionsOf(impact: readonly Impact[]): string {
  return listed(
    impact.flatMap((one) => one.impactedRegions.map((region) => plain(region.impactedRegion))),
  )
}

function withUpdates(event: HealthEvent, kept: number): HealthEvent {
  const impact = event.properties.impact.map((one) => ({
    ...one,
    impactedRegions: one.impactedRegions.map((region) => ({
      ...region,
      updates: region.updates.slice(0, kept),
    })),
  }))
  return { ...event, properties: { ...event.properties, impact } }
}

function impactOf(given: unknown, before: readonly Impact[], now: number): readonly Impact[] {
  const at = new Date(now).toISOString()
  // The schema allows nothing else.
  const impacts = (given ?? []) as readonly Impact[]
  // The first of a name counts.
  const byService = new Map(
    before
      .toReversed()
      .map(({ impactedService, impactedRegions }) => [
        impactedService,
        new Map(
          impactedRegions
            .toReversed()
            .map((region) => [plain(region.impactedRegion), region] as const),
        ),
      ]),
  )
  return impacts.map((impact) => {
    const known = byService.get(impact.impactedService)
    return {
      ...impact,
      impactedRegions: impact.impactedRegions.map((region) => {
        const was = known?.get(plain(region.impactedRegion))
        const dated = (region.updates ?? []).map((one) => ({ updateDateTime: at, ...one }))
        return {
          ...region,
          status: region.status ?? was?.status ?? 'Active',
          lastUpdateTime: at,
          updates: [...dated, ...(was?.updates ?? [])].slice(0, updatesMax),
        }
      }),
    }
  })
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** The subscriptions that the impact names, in lower case; none: it affects all of them. */
export function namedSubscriptions(impact: readonly Impact[]): ReadonlySet<string> {
  return new Set(
    impact.flatMap((one) =>
      one.impactedRegions.flatMap((region) =>
        (region.impactedSubscriptions ?? []).map((id) => id.toLowerCase()),
      ),
    ),
  )
}
