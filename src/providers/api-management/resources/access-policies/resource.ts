/** Access policies: who may have the token of an authorization (facts 3.1). */

import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import { types } from '../../domain/consent/model.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { idRule } from '../../domain/names.ts'
import { requireParent } from '../../domain/require-parent.ts'
import { serviceLocation } from '../../domain/service-location.ts'
import type { AccessPolicy } from './model.ts'
import { accessPolicyRules } from './rules.ts'
import { accessPolicyVersions } from './versions/2022-04-01-preview.ts'

type Stored = Resource<AccessPolicy>

export function accessPolicies(): ResourceType {
  return defineStored<AccessPolicy>({
    type: types.policies,
    description: 'Who may have the token of an authorization.',
    scope: 'resource-group',
    query: countedQuery,
    name: idRule(256),
    versions: accessPolicyVersions,
    verbs: ['get', 'list', 'put', 'delete'],
    protocol: {
      headStatus: 200,
      answers: { created: { status: 200 } },
      ifMatchRequired: ['put'],
      anyMatchCreates: true,
    },
    prepare: async ({ id, reader }: Context & { readonly id: ResourceId }, given: object) => ({
      ...given,
      place: await serviceLocation(reader, id, 3),
    }),
    rules: accessPolicyRules,
    deleteRules: requireParent,
    list: {
      page: countedList<AccessPolicy>(types.policies, {
        name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
        tenantId: { type: 'string', read: ({ model }) => model.tenantId, ignoreCase: true },
        objectId: { type: 'string', read: ({ model }) => model.objectId, ignoreCase: true },
      }),
    },
    sample: {
      name: (seed) => `policy-${seed}`,
      body: () => samplePolicy([]),
      changed: () => samplePolicy(['app']),
    },
  })
}

function samplePolicy(appIds: readonly string[]): object {
  return {
    properties: {
      tenantId: '11111111-2222-4333-8444-555555555555',
      objectId: '11111111-2222-4333-8444-666666666666',
      appIds,
    },
  }
}
