/** User-assigned identities: service principals of the directory whose life is that of a resource. */

import { nameOf } from '#kernel/resource-id.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled, defineReconciler } from '#plane/declare/reconciled.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { type UserAssignedIdentity, userAssignedType } from './model.ts'
import { v2023_01_31 } from './versions/2023-01-31.ts'

const deadlineSeconds = 60

export function userAssignedIdentities(context: ProviderContext): ResourceType {
  const { ids, workloads, tenantId } = context
  return defineReconciled<UserAssignedIdentity>({
    type: userAssignedType,
    description: 'Identities that are made once and lent to many resources.',
    scope: 'resource-group',
    tracked: { location: 'optional' },
    name: {
      pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]{2,127}$/,
      rule: '3 to 128 letters, digits, hyphens and underscores, a letter or digit first',
    },
    versions: [v2023_01_31(tenantId)],
    protocol: { answers: { deleted: { isAwaited: true } } },
    // For a new one; `toModel` keeps those of the one there is.
    prepare: async (_context, body: object) => ({
      ...body,
      ids: { principalId: ids.uuid(), clientId: ids.uuid() },
    }),
    reconcile: defineReconciler<UserAssignedIdentity, string | undefined, 'give' | 'take'>({
      deadlineSeconds,
      retryAfterSeconds: 1,
      states: { creating: 'Creating', updating: 'Updating', deleting: 'Deleting' },
      observe: ({ id }) => workloads.of(id.key),
      next({ desired }, known) {
        if (desired?.principalId === known) return { kind: 'done' }
        return { kind: 'step', step: desired === undefined ? 'take' : 'give' }
      },
      async perform({ id, model }, step) {
        if (step === 'take') await workloads.take(id.key)
        else await workloads.give(id.key, { ...model, displayName: nameOf(id) })
      },
    }),
    sample: {
      name: (seed) => `identity-${seed}`,
      body: () => ({ location: 'here' }),
      changed: () => ({ location: 'here', tags: { changed: 'yes' } }),
    },
  })
}
