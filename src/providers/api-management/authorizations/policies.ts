/** Access policies: who may have the token of an authorization (facts 3.1). */

import Type, { type Static } from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { defineResource, type Resource, type ResourceType } from '#plane/define.ts'
import { refuseFields } from '../errors.ts'
import { countedList } from '../list.ts'
import { idRule } from '../names.ts'
import { type AccessPolicy, types } from './model.ts'
import { authorizationDates } from './versions.ts'

const guid = '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$'
const body = Type.Object({
  properties: Type.Object({
    tenantId: Type.String({ pattern: guid }),
    objectId: Type.String({ pattern: guid }),
    appIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 50 }),
    ),
  }),
})
type Stored = Resource<AccessPolicy>

/** Facts 3.1, limits. */
const policiesMax = 100

export function accessPolicies(): ResourceType {
  return defineResource<AccessPolicy>({
    type: types.policies,
    description: 'Who may have the token of an authorization.',
    scope: 'resource-group',
    tracked: false,
    name: idRule(256),
    versions: authorizationDates.map((date) => ({
      date,
      body,
      answer: body,
      unknownProperties: 'ignore' as const,
      patch: 'none' as const,
      toModel: ({ properties }: Static<typeof body>): AccessPolicy => ({
        tenantId: properties.tenantId,
        objectId: properties.objectId,
        appIds: properties.appIds ?? [],
      }),
      fromModel: ({ tenantId, objectId, appIds }) => ({
        properties: { tenantId, objectId, appIds },
      }),
    })),
    verbs: ['get', 'list', 'put', 'delete'],
    headStatus: 200,
    ifMatchRequired: ['put', 'delete'],
    async rules({ id, previous, reader }) {
      if (previous !== undefined) return []
      const under = id.key.slice(0, id.key.lastIndexOf('/accesspolicies/'))
      const query = { type: types.policies, under, limit: policiesMax }
      if ((await reader.count(query)) < policiesMax) return []
      throw refuseFields([
        { path: 'name', message: `an authorization has at most ${policiesMax} access policies` },
      ])
    },
    list: countedList<AccessPolicy>(types.policies, {
      name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
      tenantId: { type: 'string', read: ({ model }) => model.tenantId, ignoreCase: true },
      objectId: { type: 'string', read: ({ model }) => model.objectId, ignoreCase: true },
    }),
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
