/** Services that were deleted and could come back: none, since a DELETE removes a service for good. */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { definitionDates } from '../../published-versions.ts'

const description = 'Services that were deleted and could be restored. A DELETE is for good.'

export function deletedServices(): readonly ResourceType[] {
  const kinds = { deletedservices: description, 'locations/deletedservices': description }
  return defineAbsent('ApiManagement', kinds, {
    scope: 'subscription',
    apiVersions: definitionDates,
  })
}
