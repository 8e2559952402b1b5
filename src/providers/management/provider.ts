/** The namespace `Management`: groups above subscriptions, whose rights reach what lies in them. */

import { defineProvider, type Provider } from '#plane/declare/provider.ts'
import { managementErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { descendants } from './resources/descendants/resource.ts'
import { entities } from './resources/entities/resource.ts'
import { managementGroupSubscriptions } from './resources/management-group-subscriptions/resource.ts'
import { managementGroups } from './resources/management-groups/resource.ts'
import type { GroupNaming } from './resources/management-groups/versions/2020-05-01.ts'
import { nameAvailability } from './resources/name-availability/resource.ts'
import { hierarchySettings } from './resources/settings/resource.ts'

export function managementProvider({ words, tenantId }: GroupNaming): Provider {
  return defineProvider({
    namespace: 'Management',
    compatibleVersions: publishedVersions,
    description: 'Management groups, and the subscriptions in them.',
    errors: managementErrors.entries,
    types: [
      managementGroups({ words, tenantId }),
      managementGroupSubscriptions(tenantId),
      descendants(tenantId),
      ...hierarchySettings(),
      entities(tenantId),
      nameAvailability(tenantId),
    ],
  })
}
