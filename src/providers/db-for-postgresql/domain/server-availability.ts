/** What the last look at a registered server means for its availability. */

import type { Resource } from '#plane/declare/resource.ts'
import type { ServerSeen } from '../resources/flexible-servers/model.ts'

/** `Sighting` of resource health, which this does not import: providers do not know one another. */
export function serverSighting({ observed }: Pick<Resource, 'observed'>): {
  readonly state: 'Available' | 'Unavailable' | 'Unknown'
  readonly summary: string
  readonly reasonType?: 'Unplanned'
} {
  // Written by the reconciler of this type alone.
  const seen = observed as ServerSeen | undefined
  if (seen?.kind === 'ready') return { state: 'Available', summary: 'The server answers.' }
  if (seen?.kind === 'away') {
    return { state: 'Unavailable', summary: seen.reason, reasonType: 'Unplanned' }
  }
  return { state: 'Unknown', summary: 'The server has not been looked at yet.' }
}
