/** A resource as the lists of a subscription and of a group have it. */

import type { Envelope } from '../../api/queries.ts'

export interface ListedResource extends Envelope {
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly createdTime?: string
  readonly provisioningState?: string
}
