/** The identity that a resource has of its own, asked for at the resource. Computed from the directory. */

import Type from 'typebox'
import { nameOf, scopeOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { userAssignedType } from '../user-assigned-identities/model.ts'

const type = 'ManagedIdentity/identities'
const only = 'default'

export function identities({
  workloads,
  directory,
  tenantId,
  words,
}: ProviderContext): ResourceType {
  const lent = `/providers/${qualify(words, userAssignedType)}/`.toLowerCase()
  return defineComputed({
    type,
    description: 'The identity that a resource has of its own.',
    scope: 'any',
    apiVersions: ['2023-01-31'],
    answer: Type.Object({
      location: Type.Optional(Type.String()),
      properties: Type.Object({
        tenantId: Type.String(),
        principalId: Type.String(),
        clientId: added(Type.String()),
      }),
    }),
    source: {
      async get({ id, reader }) {
        const at = scopeOf(id)
        if (nameOf(id).toLowerCase() !== only || at.key.includes(lent)) return undefined
        const resource = await reader.get(at)
        const principalId = resource === undefined ? undefined : await workloads.of(at.key)
        if (resource === undefined || principalId === undefined) return undefined
        const clientId = (await directory.find(principalId))?.clientId
        const full = qualify(words, type)
        return {
          id: `${resource.id.text}/providers/${full}/${only}`,
          name: only,
          type: full,
          ...(resource.location === undefined ? {} : { location: resource.location }),
          properties: { tenantId, principalId, ...(clientId === undefined ? {} : { clientId }) },
        }
      },
    },
  })
}
