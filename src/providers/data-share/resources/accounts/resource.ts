/** Accounts: what shares, or is shared with. They hold what they are given. */

import Type from 'typebox'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import { isoTime, types, version } from '../../dependencies.ts'
import { holderReconciler } from '../../domain/row-projection.ts'

interface Account {
  readonly createdAt: string
  readonly userName: string
  readonly identityId: string | null
}

export const shownAccount = Type.Object({
  createdAt: Type.String({ format: 'date-time' }),
  provisioningState: Type.String(),
  userName: Type.String(),
})

export function accounts(): ResourceType {
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
          identity: Type.Object({ type: Type.String() }),
          properties: shownAccount,
        }),
        unknownProperties: 'ignore',
        patch: 'tags',
        toModel: (_body: object, previous, { now, principal }) =>
          previous ?? {
            createdAt: isoTime(now),
            userName: principal.displayName,
            identityId: null,
          },
        fromModel: ({ createdAt, userName }, { state }) => ({
          identity: { type: 'SystemAssigned' },
          properties: { createdAt, provisioningState: state, userName },
        }),
      },
    ],
    reconcile: holderReconciler<Account>(),
    sample: {
      name: (seed) => `account-${seed}`,
      body: () => ({ location: 'here', identity: { type: 'SystemAssigned' } }),
      changed: () => ({ location: 'here', tags: { changed: 'yes' } }),
    },
  })
}
