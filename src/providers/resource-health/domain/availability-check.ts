/** What a provider says it saw of one of its resources. Shapes only: each provider knows what its own types mean. */

import type { Resource } from '#plane/declare/resource.ts'

export interface AvailabilityCheck {
  readonly state: 'Available' | 'Unavailable' | 'Degraded' | 'Unknown'
  readonly summary: string
  readonly reasonType?: 'Unplanned' | 'Planned' | 'UserInitiated'
  /** Since when, in milliseconds, where it is known. */
  readonly since?: number
}

/** How the availability of a resource is found, by its type in lower case and without the vendor word. */
export type Observers = Readonly<Record<string, (resource: Resource) => AvailabilityCheck>>
