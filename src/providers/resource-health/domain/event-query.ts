/**
 * What a list of events is asked: `$filter` over the event's properties, and the start of the window (facts 7.2).
 * A filter becomes a predicate over the event as its reader sees it, and a condition on the narrow rows that holds
 * wherever the predicate may.
 */

import { type FieldMap, fieldsOfRows } from '#kernel/filter/field-map.ts'
import { parseAnyMoment } from '#kernel/filter/moments.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { type ConditionWriter, type FilterColumns, parsePredicate } from '#query/predicate.ts'
import { refuseHealth } from '../errors.ts'
import {
  type EventProperties,
  eventLevels,
  eventSources,
  eventStatuses,
  eventSubTypes,
  eventTypes,
  type Impact,
  insightLevels,
  supportName,
} from './event.ts'
import { plain } from './event-transitions.ts'

/** What a filter reads: a tracking id, and the properties without what is withheld. */
export interface FilteredEvent {
  readonly trackingId: string
  readonly properties: Readonly<Record<string, unknown>> & Pick<EventProperties, 'impact'>
}

interface EventQuery {
  matches(item: FilteredEvent): boolean
  readonly condition: ConditionWriter
}

const text = (name: string, values?: readonly string[]) =>
  ({
    type: 'string',
    ignoreCase: true,
    read: (item: FilteredEvent) => item.properties[name],
    ...(values === undefined ? {} : { values }),
  }) as const
const flag = (name: string) =>
  ({ type: 'boolean', read: (item: FilteredEvent) => item.properties[name] }) as const
const count = (name: string) =>
  ({ type: 'number', read: (item: FilteredEvent) => item.properties[name] }) as const
const moment = (name: string) =>
  ({ type: 'dateTime', read: (item: FilteredEvent) => item.properties[name] }) as const

interface Reach {
  readonly service: string
  readonly serviceGuid: string | undefined
  readonly region: string | undefined
  readonly regionStatus: string | undefined
}

/** Services with each affected region; a service without regions is listed by itself. */
function reachOf(impact: readonly Impact[]): readonly Reach[] {
  return impact.flatMap(({ impactedService, impactedServiceGuid, impactedRegions }): Reach[] => {
    const service = { service: impactedService, serviceGuid: impactedServiceGuid }
    return impactedRegions.length === 0
      ? [{ ...service, region: undefined, regionStatus: undefined }]
      : impactedRegions.map((region) => ({
          ...service,
          region: region.impactedRegion,
          regionStatus: region.status,
        }))
  })
}

const word = (read: (reach: Reach) => unknown) =>
  ({ type: 'string', ignoreCase: true, read }) as const
const service = word((reach) => reach.service)
const serviceGuid = word((reach) => reach.serviceGuid)
const region = word((reach) => reach.region)
const regionStatus = word((reach) => reach.regionStatus)

const fields: FieldMap<FilteredEvent> = {
  lenient: true,
  optionalPrefix: 'properties',
  fields: {
    name: { type: 'string', ignoreCase: true, read: (item) => item.trackingId },
    trackingId: { type: 'string', ignoreCase: true, read: (item) => item.trackingId },
    eventType: text('eventType', eventTypes),
    eventSubType: text('eventSubType', eventSubTypes),
    eventSource: text('eventSource', eventSources),
    status: text('status', eventStatuses),
    eventLevel: text('eventLevel', eventLevels),
    level: text('level', insightLevels),
    title: text('title'),
    header: text('header'),
    summary: text('summary'),
    description: text('description'),
    hirStage: text('hirStage'),
    impactType: text('impactType'),
    reason: text('reason'),
    externalIncidentId: text('externalIncidentId'),
    billingId: text('billingId'),
    currencyType: text('currencyType'),
    isEventSensitive: flag('isEventSensitive'),
    isHIR: flag('isHIR'),
    platformInitiated: flag('platformInitiated'),
    enableVendorSupport: flag('enableVendorSupport'),
    enableChatWithUs: flag('enableChatWithUs'),
    priority: count('priority'),
    duration: count('duration'),
    newRate: count('newRate'),
    oldRate: count('oldRate'),
    impactStartTime: moment('impactStartTime'),
    impactMitigationTime: moment('impactMitigationTime'),
    lastUpdateTime: moment('lastUpdateTime'),
    ...fieldsOfRows<FilteredEvent, Reach>(
      { of: (item) => reachOf(item.properties.impact), together: true },
      {
        service,
        region,
        'impact/impactedService': service,
        'impact/impactedServiceGuid': serviceGuid,
        'impact/impactedRegions/impactedRegion': region,
        'impact/impactedRegions/status': regionStatus,
      },
    ),
    ...fieldsOfRows<FilteredEvent, string>(
      { of: (item) => textsOf(item.properties['eventTags']), together: false },
      { eventTags: { type: 'string', ignoreCase: true, read: (tag) => tag } },
    ),
  },
}

function fieldsBy(words: VendorWords): FieldMap<FilteredEvent> {
  const support = flag('enableVendorSupport')
  return { ...fields, fields: { ...fields.fields, [supportName(words)]: support } }
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}

const columns: FilterColumns = {
  eventType: { kind: 'folded', text: 'event_type' },
  status: { kind: 'folded', text: 'status' },
  eventLevel: { kind: 'folded', text: 'event_level' },
  ...Object.fromEntries(
    ['service', 'impact/impactedService'].map((path) => [
      path,
      { kind: 'list', text: 'services', fold: (value: string) => value.toLowerCase() } as const,
    ]),
  ),
  ...Object.fromEntries(
    ['region', 'impact/impactedRegions/impactedRegion'].map((path) => [
      path,
      { kind: 'list', text: 'regions', fold: plain } as const,
    ]),
  ),
}

/** Throws `InvalidFilter` with the position. */
export function parseEventQuery(filter: string | null, words: VendorWords): EventQuery {
  if (filter === null || filter.trim() === '') {
    return { matches: () => true, condition: () => undefined }
  }
  const predicate = parsePredicate(filter, fieldsBy(words), columns)
  if (!predicate.ok) throw refuseHealth.InvalidFilter({ reason: predicate.message })
  return predicate
}

/** Three days ago by default (facts 7.2). Throws `InvalidQueryStartTime`. */
export function startOf(given: string | null, now: number): number {
  if (given === null || given === '') return now - 3 * 86_400_000
  const start = parseAnyMoment(given.trim())
  if (start === undefined) throw refuseHealth.InvalidQueryStartTime({ given: given.slice(0, 100) })
  return start
}
