/** Tenants: there is one, the installation's own, and everyone who is signed in belongs to it. */

import Type from 'typebox'
import { added } from '#plane/declare/added.ts'
import { type ComputedType, defineComputed } from '#plane/declare/computed.ts'
import { pageOfArray } from '../../domain/page-of-array.ts'
import { subscriptionVersions } from '../../published-versions.ts'

export function tenants(tenantId: string): ComputedType {
  return defineComputed({
    type: 'Resources/tenants',
    description: 'The tenants the caller belongs to.',
    scope: 'implied',
    apiVersions: subscriptionVersions,
    answer: added(Type.Object({ tenantId: Type.String(), tenantCategory: Type.String() })),
    openList: true,
    source: {
      list: (context) =>
        Promise.resolve(
          pageOfArray([{ id: `/tenants/${tenantId}`, tenantId, tenantCategory: 'Home' }], context),
        ),
    },
  })
}
