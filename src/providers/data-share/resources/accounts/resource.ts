/** Accounts: what shares, or is shared with. They hold what they are given. */

import Type from 'typebox'
import type { Ids } from '#kernel/ports.ts'
import type { WorkloadIdentities } from '#kernel/principal.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled, type Reconciler } from '#plane/declare/reconciled.ts'
import { isoTime, type ShareDependencies, types, version } from '../../dependencies.ts'
import { holderReconciler } from '../../domain/row-projection.ts'

interface Account {
  readonly createdAt: string
  readonly userName: string
  readonly identityId: string | null
}

interface Prepared {
  /** Put in by `prepare`. */
  readonly principalId?: string
}

export const shownAccount = Type.Object({
  createdAt: Type.String({ format: 'date-time' }),
  provisioningState: Type.String(),
  userName: Type.String(),
  userEmail: added(Type.String({ description: 'The name that the user signs in with.' })),
})

export function accounts({ tenantId, ids, workloads }: ShareDependencies): ResourceType {
  return defineReconciled<Account>({
    type: types.accounts,
    description: 'An account that shares, or is shared with.',
    scope: 'resource-group',
    tracked: { location: 'required' },
    name: {
      pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,88}[A-Za-z0-9_])?$/,
      rule: '1 to 90 letters, digits, periods, hyphens and underscores, a letter or digit first',
    },
    versions: [
      {
        date: version,
        body: Type.Object({
          identity: Type.Optional(
            Type.Object({ type: Type.Optional(Type.Literal('SystemAssigned')) }),
          ),
          properties: Type.Optional(Type.Object({})),
        }),
        answer: Type.Object({
          identity: Type.Object({
            type: Type.String(),
            principalId: added(Type.String()),
            tenantId: added(Type.String()),
          }),
          properties: shownAccount,
        }),
        unknownProperties: 'ignore',
        patch: 'tags',
        toModel: ({ principalId }: Prepared, previous, { now, principal }) => {
          const made = previous ?? { createdAt: isoTime(now), userName: principal.displayName }
          return { ...made, identityId: previous?.identityId ?? principalId ?? null }
        },
        fromModel: ({ createdAt, userName, identityId }, { state }) => ({
          identity: {
            type: 'SystemAssigned',
            // Accounts made before they had identities get theirs with their next PUT.
            ...(identityId === null ? {} : { principalId: identityId, tenantId }),
          },
          properties: { createdAt, provisioningState: state, userName, userEmail: userName },
        }),
      },
    ],
    prepare: async (_context, body: object) => ({ ...body, principalId: ids.uuid() }),
    reconcile: accountReconciler(workloads, ids),
    sample: {
      name: (seed) => `account-${seed}`,
      body: () => ({ location: 'here', identity: { type: 'SystemAssigned' } }),
      changed: () => ({ location: 'here', tags: { changed: 'yes' } }),
    },
  })
}

/** An account holds what is below it; the directory has its identity as long as it is there. */
function accountReconciler(workloads: WorkloadIdentities, ids: Ids): Reconciler<Account> {
  const holder = holderReconciler<Account>()
  return {
    ...holder,
    async observe({ id, desired }) {
      const principalId = desired?.identityId ?? null
      const known = await workloads.of(id.key)
      if (principalId === null) {
        if (known !== undefined) await workloads.take(id.key)
      } else if (known !== principalId) {
        const displayName = nameOf(id)
        await workloads.give(id.key, { principalId, clientId: ids.uuid(), displayName })
      }
      return null
    },
  }
}
