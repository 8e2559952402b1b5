/** What a provider says it saw of one of its resources. Shapes only: each provider knows what its own types mean. */

import type { Resource } from '#plane/declare/resource.ts'

export interface AvailabilityCheck {
  readonly state: 'Available' | 'Unavailable' | 'Degraded' | 'Unknown'
  readonly summary: string
  readonly reasonType?: 'Unplanned' | 'Planned' | 'UserInitiated'
  /** Since when, in milliseconds, where it is known. */
  readonly since?: number
}

/** By type without the vendor word, in lower case: what is seen of a resource. */
export type Observers = Readonly<Record<string, (resource: Resource) => AvailabilityCheck>>
