/** The stored form of a service health event, and the schemas of what operators write (contract, health event). */

import Type, { type TSchema } from 'typebox'
import type { VendorWords } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'

export const eventTypes = [
  'ServiceIssue',
  'PlannedMaintenance',
  'HealthAdvisory',
  'RCA',
  'EmergingIssues',
  'SecurityAdvisory',
  'Billing',
] as const
export const eventSubTypes = [
  'Retirement',
  'ForeignExchangeRateChange',
  'Underbilling',
  'Overbilling',
  'PriceChanges',
  'TaxChanges',
  'MeterIDChanges',
  'UnauthorizedPartyAbuse',
] as const
export const eventSources = ['ResourceHealth', 'ServiceHealth'] as const
export const eventStatuses = ['Active', 'Resolved'] as const
export const eventLevels = ['Critical', 'Error', 'Warning', 'Informational'] as const
export const insightLevels = ['Critical', 'Warning'] as const
const eventTagValues = [
  'Action Recommended',
  'False Positive',
  'Preliminary PIR',
  'Final PIR',
] as const
const linkTypes = ['Button', 'Hyperlink'] as const

export type EventType = (typeof eventTypes)[number]
export type EventStatus = (typeof eventStatuses)[number]
export type EventLevel = (typeof eventLevels)[number]

function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values] })
}

const text = Type.String({ maxLength: 100_000 })
const word = Type.String({ maxLength: 256 })
const moment = Type.String({ format: 'date-time', maxLength: 40 })
const guid = Type.String({ pattern: '^[0-9A-Za-z-]{1,100}$' })
const values = Type.Record(Type.String({ maxLength: 256 }), Type.Unknown(), { maxProperties: 100 })
const shown = Type.Object(
  { value: Type.Optional(word), localizedValue: Type.Optional(word) },
  { additionalProperties: false },
)
const tags = Type.Array(oneOf(eventTagValues), { maxItems: 10 })

const regionUpdate = Type.Object(
  {
    summary: Type.Optional(text),
    updateDateTime: Type.Optional(moment),
    eventTags: Type.Optional(tags),
  },
  { additionalProperties: false },
)

const region = Type.Object(
  {
    impactedRegion: Type.String({ minLength: 1, maxLength: 256 }),
    status: Type.Optional(oneOf(eventStatuses)),
    impactedSubscriptions: Type.Optional(Type.Array(guid, { maxItems: 5000 })),
    impactedTenants: Type.Optional(Type.Array(guid, { maxItems: 100 })),
    updates: Type.Optional(Type.Array(regionUpdate, { maxItems: 200 })),
  },
  { additionalProperties: false },
)

const impact = Type.Object(
  {
    impactedService: Type.String({ minLength: 1, maxLength: 256 }),
    impactedServiceGuid: Type.Optional(guid),
    impactedRegions: Type.Array(region, { maxItems: 100 }),
  },
  { additionalProperties: false },
)

/** What an operator may write. Missing times, status and priority are computed. */
const written = {
  eventType: Type.Optional(oneOf(eventTypes)),
  eventSubType: Type.Optional(oneOf(eventSubTypes)),
  eventSource: Type.Optional(oneOf(eventSources)),
  eventLevel: Type.Optional(oneOf(eventLevels)),
  level: Type.Optional(oneOf(insightLevels)),
  title: Type.Optional(Type.String({ maxLength: 1000 })),
  header: Type.Optional(Type.String({ maxLength: 1000 })),
  summary: Type.Optional(text),
  description: Type.Optional(text),
  article: Type.Optional(
    Type.Object(
      {
        articleContent: Type.Optional(text),
        articleId: Type.Optional(word),
        parameters: Type.Optional(values),
      },
      { additionalProperties: false },
    ),
  ),
  additionalInformation: Type.Optional(
    Type.Object({ message: Type.Optional(text) }, { additionalProperties: false }),
  ),
  links: Type.Optional(
    Type.Array(
      Type.Object(
        {
          type: Type.Optional(oneOf(linkTypes)),
          displayText: Type.Optional(shown),
          extensionName: Type.Optional(word),
          bladeName: Type.Optional(word),
          parameters: Type.Optional(values),
        },
        { additionalProperties: false },
      ),
      { maxItems: 50 },
    ),
  ),
  impact: Type.Optional(Type.Array(impact, { maxItems: 50 })),
  eventTags: Type.Optional(tags),
  recommendedActions: Type.Optional(
    Type.Object(
      {
        message: Type.Optional(text),
        localeCode: Type.Optional(word),
        actions: Type.Optional(
          Type.Array(
            Type.Object(
              {
                actionText: Type.Optional(text),
                groupId: Type.Optional(
                  Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 }),
                ),
              },
              { additionalProperties: false },
            ),
            { maxItems: 100 },
          ),
        ),
      },
      { additionalProperties: false },
    ),
  ),
  faqs: Type.Optional(
    Type.Array(
      Type.Object(
        {
          question: Type.Optional(text),
          answer: Type.Optional(text),
          localeCode: Type.Optional(word),
        },
        { additionalProperties: false },
      ),
      { maxItems: 100 },
    ),
  ),
  impactStartTime: Type.Optional(moment),
  impactMitigationTime: Type.Optional(moment),
  priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 23 })),
  isEventSensitive: Type.Optional(Type.Boolean()),
  isHIR: Type.Optional(Type.Boolean()),
  hirStage: Type.Optional(word),
  platformInitiated: Type.Optional(Type.Boolean()),
  enableVendorSupport: Type.Optional(Type.Boolean()),
  enableChatWithUs: Type.Optional(Type.Boolean()),
  impactType: Type.Optional(word),
  reason: Type.Optional(text),
  externalIncidentId: Type.Optional(word),
  billingId: Type.Optional(word),
  currencyType: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  newRate: Type.Optional(Type.Number()),
  oldRate: Type.Optional(Type.Number()),
}

/** Resources that an operator names as impacted, beyond those that the impact covers. */
const namedResource = Type.Object(
  {
    targetResourceId: Type.String({ pattern: '^/', maxLength: 2048 }),
    status: Type.Optional(word),
    maintenanceStartTime: Type.Optional(moment),
    maintenanceEndTime: Type.Optional(moment),
    info: Type.Optional(
      Type.Array(
        Type.Object(
          { key: Type.Optional(word), value: Type.Optional(text) },
          { additionalProperties: false },
        ),
        { maxItems: 50 },
      ),
    ),
  },
  { additionalProperties: false },
)

const impactedResources = Type.Optional(Type.Array(namedResource, { maxItems: 1000 }))

/** The one property whose name follows the vendor words. Stored under the contract's name. */
const storedSupport = 'enableVendorSupport'
export function supportName({ namespace }: VendorWords): string {
  return `enable${namespace}Support`
}

/** The body of `publish` and `update`. An update leaves missing properties as they are. */
export function eventBodyOf(words: VendorWords): TSchema {
  const properties = Object.fromEntries(
    Object.entries(written).map(([name, schema]): [string, TSchema] => [
      name === storedSupport ? supportName(words) : name,
      schema,
    ]),
  )
  return Type.Object(
    { properties: Type.Object(properties, { additionalProperties: false }), impactedResources },
    { additionalProperties: false },
  )
}

function renameSupport(properties: object, from: string, to: string): object {
  const { [from]: support, ...others } = properties as Readonly<Record<string, unknown>>
  return support === undefined || from === to ? properties : { ...others, [to]: support }
}

export const supportAsStored = (properties: object, words: VendorWords): object =>
  renameSupport(properties, supportName(words), storedSupport)
export const supportAsShown = (properties: object, words: VendorWords): object =>
  renameSupport(properties, storedSupport, supportName(words))

/** The answer of steps and reads: written and computed properties. */
export const answeredProperties = Type.Object(
  {
    ...written,
    impact: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...impact.properties,
            impactedRegions: Type.Array(
              Type.Object(
                { ...region.properties, lastUpdateTime: added(moment) },
                { additionalProperties: false },
              ),
              { maxItems: 100 },
            ),
          },
          { additionalProperties: false },
        ),
        { maxItems: 50 },
      ),
    ),
    status: added(oneOf(eventStatuses)),
    lastUpdateTime: added(moment),
    duration: added(Type.Integer()),
  },
  { additionalProperties: false },
)

/** The body of `mitigate`, `resolve` and `annotate`: some regions, or all of them. */
export const stepBody = Type.Object(
  {
    regions: Type.Optional(Type.Array(word, { minItems: 1, maxItems: 100 })),
    summary: Type.Optional(text),
    eventTags: Type.Optional(tags),
    at: Type.Optional(moment),
  },
  { additionalProperties: false },
)

export const stepNames = ['publish', 'update', 'mitigate', 'resolve', 'annotate'] as const
export type StepName = (typeof stepNames)[number]

/** The content of an update to one region. */
interface RegionUpdate {
  readonly summary?: string
  readonly updateDateTime?: string
  readonly eventTags?: readonly string[]
}

interface Region {
  readonly impactedRegion: string
  readonly status: EventStatus
  readonly impactedSubscriptions?: readonly string[]
  readonly impactedTenants?: readonly string[]
  readonly lastUpdateTime: string
  readonly updates: readonly RegionUpdate[]
}

export interface Impact {
  readonly impactedService: string
  readonly impactedServiceGuid?: string
  readonly impactedRegions: readonly Region[]
}

/** The contract's complete properties. Members that no rule reads stay as given. */
export interface EventProperties extends Readonly<Record<string, unknown>> {
  readonly eventType: EventType
  readonly eventSource: string
  readonly status: EventStatus
  readonly eventLevel: EventLevel
  readonly summary?: string
  readonly description?: string
  readonly impact: readonly Impact[]
  readonly impactStartTime: string
  readonly impactMitigationTime?: string
  readonly lastUpdateTime: string
  readonly duration?: number
  readonly priority: number
  readonly isEventSensitive: boolean
}

export interface NamedResource {
  readonly targetResourceId: string
  readonly status?: string
  readonly maintenanceStartTime?: string
  readonly maintenanceEndTime?: string
  readonly info?: readonly { readonly key?: string; readonly value?: string }[]
}

export interface HealthEvent {
  /** As published; compared without regard to case. */
  readonly trackingId: string
  /** The owner of the event: `/`, or the key of the subscription it was published at. */
  readonly owner: string
  readonly properties: EventProperties
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  /** Ids of principals; `system` for the installation itself. */
  readonly publishedBy: string
  readonly changedBy: string
  /** The priority was given, so it is not computed. */
  readonly fixedPriority: boolean
  readonly impactedResources: readonly NamedResource[]
}

export interface WrittenEvent {
  readonly properties: Readonly<Record<string, unknown>>
  readonly impactedResources?: readonly NamedResource[]
}

export interface WrittenStep {
  readonly regions?: readonly string[]
  readonly summary?: string
  readonly eventTags?: readonly string[]
  readonly at?: string
}
