/** Shares: what a provider shares together. A share that goes tells the consumers it had. */

import Type from 'typebox'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled, defineReconciler } from '#plane/declare/reconciled.ts'
import { isoTime, proxyName, type ShareDependencies, types, version } from '../../dependencies.ts'
import { deletedWithChildren } from '../../domain/row-projection.ts'
import { shareActions } from '../../domain/synchronizations/actions.ts'
import { shownAccount } from '../accounts/resource.ts'

export interface Share {
  readonly createdAt: string
  readonly userName: string
  readonly description?: string
  readonly terms?: string
  readonly shareKind: string
}

const shareProperties = Type.Object({
  description: Type.Optional(Type.String({ maxLength: 4000 })),
  terms: Type.Optional(Type.String({ maxLength: 4000 })),
  shareKind: Type.Optional(Type.Union([Type.Literal('CopyBased'), Type.Literal('InPlace')])),
})

export function shares(deps: ShareDependencies): ResourceType {
  return defineReconciled<Share>({
    type: types.shares,
    description: 'What a provider shares together.',
    scope: 'resource-group',
    name: proxyName,
    versions: [
      {
        date: version,
        body: Type.Object({ properties: Type.Optional(shareProperties) }),
        answer: Type.Object({ properties: Type.Interface([shareProperties, shownAccount], {}) }),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel(body: { readonly properties?: Partial<Share> }, previous, { now, principal }) {
          const { description, terms, shareKind } = body.properties ?? {}
          return {
            createdAt: previous?.createdAt ?? isoTime(now),
            userName: previous?.userName ?? principal.displayName,
            shareKind: shareKind ?? 'CopyBased',
            ...(description === undefined ? {} : { description }),
            ...(terms === undefined ? {} : { terms }),
          }
        },
        fromModel: (model, { state }) => ({
          properties: { ...model, provisioningState: state, userEmail: model.userName },
        }),
      },
    ],
    actions: shareActions(deps),
    // What took a share before it was made took another one of its name.
    reconcile: defineReconciler<Share, true | null, 'end'>({
      ...deletedWithChildren,
      observe: async ({ id, desired }) =>
        (await deps.grants.takenBefore(id.key, momentOf(desired))).length > 0 || null,
      next: (_subject, areLeft) =>
        areLeft === true ? { kind: 'step', step: 'end' } : { kind: 'done' },
      async perform({ id, desired }) {
        const keys = await deps.grants.takenBefore(id.key, momentOf(desired))
        await deps.grants.endTaken(id.key, momentOf(desired))
        for (const key of keys) deps.wakes.wake(key)
      },
    }),
    sample: {
      name: (seed) => `share-${seed}`,
      body: () => ({ properties: { description: 'first', shareKind: 'CopyBased' } }),
      changed: () => ({ properties: { description: 'second', terms: 'none' } }),
    },
  })
}

/** All of them, where the share is to go. */
function momentOf(desired: Share | undefined): number {
  return desired === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(desired.createdAt)
}
