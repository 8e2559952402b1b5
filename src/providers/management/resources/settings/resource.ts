/** Settings of the hierarchy: where new subscriptions go and who may make groups. Here roles say it, so there are none. */

import { defineAbsent } from '#plane/declare/absent.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { types } from '../../domain/hierarchy.ts'

export function hierarchySettings(): readonly ResourceType[] {
  return defineAbsent(
    types.groups,
    {
      settings:
        'Settings of the hierarchy. There are none: new subscriptions lie in the group of the tenant, and roles say who makes groups.',
    },
    { scope: 'tenant', apiVersions: ['2020-05-01'] },
  )
}
