/**
 * What a provider reports about the availability of a resource. Types only: each provider interprets its own types.
 */

import type { Resource } from '#plane/declare/resource.ts'

export interface AvailabilityCheck {
  readonly state: 'Available' | 'Unavailable' | 'Degraded' | 'Unknown'
  readonly summary: string
  readonly reasonType?: 'Unplanned' | 'Planned' | 'UserInitiated'
  /** Since when, in milliseconds since 1970, if known. */
  readonly since?: number
}

/** Functions that find the availability of a resource, by its type in lower case and without the vendor word. */
export type Observers = Readonly<Record<string, (resource: Resource) => AvailabilityCheck>>
