/**
 * The wire form of an event for a reader: what a sensitive one withholds is left out, and a subscription sees no
 * other subscription (contract, health event; facts 7.4).
 */

import type { VendorWords } from '#kernel/vendor.ts'
import { type EventProperties, type HealthEvent, type Impact, supportAsShown } from './event.ts'
import type { FilteredEvent } from './event-query.ts'

export interface EventView {
  readonly words: VendorWords
  readonly tenantId: string
  /** The reader's subscription in lower case; absent at the installation. */
  readonly subscription?: string
  /** The location of the resource, when the list is of one resource. */
  readonly location?: string
  /** Everything, even of sensitive events. */
  readonly whole?: true
}

/** What a reader may see, and filter by. */
export function visibleEvent(event: HealthEvent, view: EventView): FilteredEvent {
  const { summary, description, ...rest } = event.properties
  const withheld = event.properties.isEventSensitive && view.whole !== true
  const texts = {
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
  }
  const impact = event.properties.impact.map((one) => impactAs(one, view, withheld))
  return {
    trackingId: event.trackingId,
    properties: { ...rest, ...(withheld ? {} : texts), impact },
  }
}

function impactAs(impact: Impact, view: EventView, withheld: boolean): Impact {
  const { subscription, tenantId } = view
  return {
    ...impact,
    impactedRegions: impact.impactedRegions.map((region) => {
      const { impactedSubscriptions, impactedTenants, updates, ...rest } = region
      const subscriptions =
        subscription === undefined
          ? (impactedSubscriptions ?? [])
          : impactedSubscriptions === undefined ||
              impactedSubscriptions.some((id) => id.toLowerCase() === subscription)
            ? [subscription]
            : []
      return {
        ...rest,
        impactedSubscriptions: subscriptions,
        impactedTenants: subscription === undefined ? (impactedTenants ?? [tenantId]) : [tenantId],
        updates: withheld ? [] : updates,
      }
    }),
  }
}

export function eventToWire(event: HealthEvent, requested: FilteredEvent, view: EventView): object {
  const type = `${view.words.namespace}.ResourceHealth/events`
  return {
    id: `/providers/${type}/${event.trackingId}`,
    name: event.trackingId,
    type,
    systemData: {
      createdAt: new Date(event.publishedAt).toISOString(),
      lastModifiedAt: event.properties.lastUpdateTime,
      // A subscription does not learn who operates the installation.
      ...(view.subscription === undefined
        ? { createdBy: event.publishedBy, lastModifiedBy: event.changedBy }
        : {}),
    },
    ...(view.location === undefined ? {} : { location: view.location }),
    // Properties without a value are left out, as in the contract.
    properties: supportAsShown(
      requested.properties satisfies Readonly<Record<string, unknown>> &
        Pick<EventProperties, 'impact'>,
      view.words,
    ),
  }
}
