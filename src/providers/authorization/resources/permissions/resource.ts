/** `GET {scope}/…/permissions`: what the caller's own roles permit at a scope, and nobody else's. */

import Type from 'typebox'
import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Permission } from '../role-definitions/model.ts'

export type PermissionsAt = (
  principal: Principal,
  scope: ResourceId,
) => Promise<readonly Permission[]>

const texts = Type.Array(Type.String())
const answer = Type.Object({
  actions: texts,
  notActions: texts,
  dataActions: texts,
  notDataActions: texts,
})

export function permissions(permissionsAt: PermissionsAt): ResourceType {
  return defineComputed({
    type: 'Authorization/permissions',
    description: 'What the roles of the caller permit at a scope, conditions left aside.',
    scope: 'any',
    apiVersions: ['2022-04-01', '2018-07-01', '2015-07-01'],
    answer: added(answer),
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
