/** Tenants: there is one, the installation's own, and everyone who is signed in belongs to it. */

import { defineResource, type ResourceType } from '#plane/define.ts'
import { pageOfArray } from '../page-of-array.ts'
import { subscriptionVersions } from '../versions.ts'

export function tenants(tenantId: string): ResourceType {
  return defineResource({
    type: 'Resources/tenants',
    description: 'The tenants the caller belongs to.',
    scope: 'implied',
    tracked: false,
    name: { pattern: /^[0-9a-f-]{36}$/i, rule: 'a UUID' },
    versions: [],
    apiVersions: subscriptionVersions,
    openList: true,
    source: {
      list: (context) =>
        Promise.resolve(
          pageOfArray([{ id: `/tenants/${tenantId}`, tenantId, tenantCategory: 'Home' }], context),
        ),
    },
  })
}
