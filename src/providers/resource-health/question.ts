/**
 * What a list of events is asked: `$filter` over the event's properties, and the start of the window (facts 7.2).
 * A filter becomes a predicate over the event as its reader sees it, and a condition on the narrow rows that holds
 * wherever the predicate may.
 */

import { compileFilter } from '#kernel/filter/evaluate.ts'
import { type FieldMap, fieldsOfRows } from '#kernel/filter/field-map.ts'
import { parseAnyMoment } from '#kernel/filter/moments.ts'
import type { FilterNode } from '#kernel/filter/nodes.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import { plain } from './change.ts'
import { refuseHealth } from './errors.ts'
import {
  type EventProperties,
  eventLevels,
  eventSources,
  eventStatuses,
  eventSubTypes,
  eventTypes,
  type Impact,
  insightLevels,
} from './event.ts'
import type { Narrowing } from './ledger.ts'

/** What is asked about: a tracking id, and the properties with what is withheld left out. */
export interface Asked {
  readonly trackingId: string
  readonly properties: Readonly<Record<string, unknown>> & Pick<EventProperties, 'impact'>
}

export interface Question {
  matches(item: Asked): boolean
  readonly narrowing: Narrowing | undefined
}

const text = (name: string, values?: readonly string[]) =>
  ({
    type: 'string',
    ignoreCase: true,
    read: (item: Asked) => item.properties[name],
    ...(values === undefined ? {} : { values }),
  }) as const
const flag = (name: string) =>
  ({ type: 'boolean', read: (item: Asked) => item.properties[name] }) as const
const count = (name: string) =>
  ({ type: 'number', read: (item: Asked) => item.properties[name] }) as const
const moment = (name: string) =>
  ({ type: 'dateTime', read: (item: Asked) => item.properties[name] }) as const

interface Reach {
  readonly service: string
  readonly serviceGuid: string | undefined
  readonly region: string | undefined
  readonly regionStatus: string | undefined
}

/** Services with each region they are impacted in; a service without regions stands alone. */
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

const fields: FieldMap<Asked> = {
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
    ...fieldsOfRows<Asked, Reach>(
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
    ...fieldsOfRows<Asked, string>(
      { of: (item) => textsOf(item.properties['eventTags']), together: false },
      { eventTags: { type: 'string', ignoreCase: true, read: (tag) => tag } },
    ),
  },
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}

/** Throws `InvalidFilter` with the position. */
export function parseQuestion(filter: string | null): Question {
  if (filter === null || filter.trim() === '') {
    return { matches: () => true, narrowing: undefined }
  }
  const parsed = parseFilter(filter, lenientProfile)
  if (!parsed.ok) throw refuseHealth.InvalidFilter({ reason: parsed.message })
  const compiled = compileFilter(parsed.node, fields)
  if (!compiled.ok) throw refuseHealth.InvalidFilter({ reason: compiled.message })
  return { matches: compiled.matches, narrowing: narrowingOf(parsed.node) }
}

const columns: Readonly<Record<string, string>> = {
  eventtype: 'event_type',
  status: 'status',
  eventlevel: 'event_level',
}

/** A necessary condition; nothing where none can be told of the narrow rows. */
export function narrowingOf(node: FilterNode): Narrowing | undefined {
  if (node.kind === 'in') {
    const each = node.list.map((literal) => equals(node.operand, literal))
    return each.every((one) => one !== undefined) ? joined(' or ', each) : undefined
  }
  if (node.kind !== 'binary') return undefined
  const { operator, left, right } = node
  if (operator === 'eq') return equals(left, right) ?? equals(right, left)
  if (operator !== 'and' && operator !== 'or') return undefined
  const both = [narrowingOf(left), narrowingOf(right)].filter((one) => one !== undefined)
  if (operator === 'and') return both.length === 0 ? undefined : joined(' and ', both)
  return both.length === 2 ? joined(' or ', both) : undefined
}

function equals(path: FilterNode, literal: FilterNode): Narrowing | undefined {
  if (path.kind !== 'path' || literal.kind !== 'literal') return undefined
  if (literal.literal.type !== 'string' || literal.literal.value.includes('\u0000'))
    return undefined
  const [first = '', ...rest] = path.segments.map((one) => one.toLowerCase())
  const name = first === 'properties' ? rest.join('/') : [first, ...rest].join('/')
  const value = literal.literal.value
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined
  if (column !== undefined) return { text: `${column} = ?`, values: [value.toLowerCase()] }
  if (name === 'service' || name === 'impact/impactedservice') {
    return { text: "services like ? escape '\\'", values: [`%|${escaped(value.toLowerCase())}|%`] }
  }
  if (name === 'region' || name === 'impact/impactedregions/impactedregion') {
    return { text: "regions like ? escape '\\'", values: [`%|${escaped(plain(value))}|%`] }
  }
  return undefined
}

function escaped(value: string): string {
  return value.replace(/[\\%_]/g, (one) => `\\${one}`)
}

function joined(word: string, parts: readonly Narrowing[]): Narrowing {
  return {
    text: `(${parts.map((one) => one.text).join(word)})`,
    values: parts.flatMap((one) => one.values),
  }
}

/** Three days back where nothing is said (facts 7.2). Throws `InvalidQueryStartTime`. */
export function startOf(given: string | null, now: number): number {
  if (given === null || given === '') return now - 3 * 86_400_000
  const start = parseAnyMoment(given.trim())
  if (start === undefined) throw refuseHealth.InvalidQueryStartTime({ given: given.slice(0, 100) })
  return start
}
