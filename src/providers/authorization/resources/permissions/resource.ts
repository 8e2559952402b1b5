/** `GET {scope}/…/permissions`: what the caller's own roles permit at a scope, and nobody else's. */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Permission } from '../role-definitions/model.ts'

export type PermissionsAt = (
  principal: Principal,
  scope: ResourceId,
) => Promise<readonly Permission[]>

export function permissions(permissionsAt: PermissionsAt): ResourceType {
  return defineComputed({
    type: 'Authorization/permissions',
    description: 'What the roles of the caller permit at a scope, conditions left aside.',
    scope: 'any',
    apiVersions: ['2022-04-01', '2018-07-01', '2015-07-01'],
    openList: true,
    source: {
      list: async ({ principal, parent }) => ({
        items: (await permissionsAt(principal, parent)).map(
          ({ actions, notActions, dataActions, notDataActions }) => ({
            actions,
            notActions,
            dataActions,
            notDataActions,
          }),
        ),
      }),
    },
  })
}
