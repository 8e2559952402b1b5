/** Shares: what a provider shares together. A share that goes tells the consumers it had. */

import Type from 'typebox'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import { isoTime, proxyName, type ShareDependencies, types, version } from '../../dependencies.ts'
import { holderReconciler } from '../../domain/row-projection.ts'
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
    deleteRules({ id }) {
      // A hint, after the delete will have been noted: consumers are told that the source is gone.
      deps.timers.after(wakeMilliseconds, () => void wakeConsumers(deps, id.key))
    },
    reconcile: holderReconciler<Share>(),
    sample: {
      name: (seed) => `share-${seed}`,
      body: () => ({ properties: { description: 'first', shareKind: 'CopyBased' } }),
      changed: () => ({ properties: { description: 'second', terms: 'none' } }),
    },
  })
}

const wakeMilliseconds = 500
const consumersMax = 500

/** Losing it costs delay only: consumers look again by themselves. */
async function wakeConsumers(
  { grants, wakes, log }: ShareDependencies,
  shareKey: string,
): Promise<void> {
  try {
    for (const { subscriptionKey } of await grants.grantsOf(shareKey, '', consumersMax)) {
      wakes.wake(subscriptionKey)
    }
  } catch (error) {
    // The store is away; nobody waits for this.
    log.debug({ share: shareKey, error: String(error) }, 'a hint was lost')
  }
}
