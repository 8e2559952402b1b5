/** Maps the last look at a registered server to its availability. */

import type { Resource } from '#plane/declare/resource.ts'
import type { ServerSeen } from '../resources/flexible-servers/model.ts'

/** Has the shape of `Sighting` in resource health. Providers do not import each other. */
export function serverAvailability({ observed }: Pick<Resource, 'observed'>): {
  readonly state: 'Available' | 'Unavailable' | 'Unknown'
  readonly summary: string
  readonly reasonType?: 'Unplanned'
} {
  // Only the reconciler of this type writes this value.
  const seen = observed as ServerSeen | undefined
  if (seen?.kind === 'ready') return { state: 'Available', summary: 'The server answers.' }
  if (seen?.kind === 'away') {
    return { state: 'Unavailable', summary: seen.reason, reasonType: 'Unplanned' }
  }
  return { state: 'Unknown', summary: 'The server has not been looked at yet.' }
}
