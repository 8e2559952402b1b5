/** Services that were deleted and could come back: none, since a DELETE removes a service for good. */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { definitionDates } from '../../published-versions.ts'

export function deletedServices(): readonly ResourceType[] {
  return ['deletedservices', 'locations/deletedservices'].map((word) =>
    defineAbsent({
      type: `ApiManagement/${word}`,
      description: 'Services that were deleted and could be restored. A DELETE is for good.',
      scope: 'subscription',
      apiVersions: definitionDates,
    }),
  )
}
