/** Share subscriptions: a consumer's side of a share, from accepting an invitation to synchronizing. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { addedEach } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled, StepFailure } from '#plane/declare/reconciled.ts'
import type { View } from '#plane/declare/wire.ts'
import { isoTime, proxyName, type ShareDependencies, types, version } from '../../dependencies.ts'
import { requireInvitation } from '../../domain/invitee.ts'
import { type Generation, never, projectionReconciler } from '../../domain/row-projection.ts'
import { moment } from '../../domain/schedules.ts'
import type { ShareCard } from '../../domain/store/tables.ts'
import { subscriptionActions } from '../../domain/synchronizations/actions.ts'
import { shownStatus } from '../provider-share-subscriptions/resource.ts'

export interface ShareSubscription {
  readonly objectId: string
  readonly invitationId: string
  readonly sourceShareLocation: string
  readonly shareKey: string
  readonly expirationDate?: string
  readonly createdAt: string
  readonly userName: string
  readonly tenant: string
  readonly card: ShareCard
}

interface Body {
  readonly properties: {
    readonly invitationId: string
    readonly sourceShareLocation: string
    readonly expirationDate?: string
  }
  /** Put in by `prepare`. */
  readonly share?: { readonly shareKey: string; readonly card: ShareCard }
  readonly place?: string
}

interface Seen extends Generation {
  readonly status: string
}

/** Texts of answers that the released shape did not name. */
const alsoShown = [
  'sourceShareLocation',
  'expirationDate',
  'createdAt',
  'providerEmail',
  'providerName',
  'providerTenantName',
  'shareDescription',
  'shareKind',
  'shareName',
  'shareTerms',
  'userEmail',
  'userName',
]

export function shareSubscriptions(deps: ShareDependencies): ResourceType {
  const { grants, reader, ids } = deps
  return defineReconciled<ShareSubscription>({
    type: types.subscriptions,
    description: 'A share that was accepted, with what it is mapped to.',
    scope: 'resource-group',
    name: proxyName,
    versions: [
      {
        date: version,
        body: Type.Object({
          properties: Type.Object({
            invitationId: Type.String({ minLength: 1, maxLength: 100 }),
            sourceShareLocation: Type.String({ minLength: 1, maxLength: 100 }),
            expirationDate: Type.Optional(moment),
          }),
        }),
        answer: Type.Object({
          properties: Type.Object({
            invitationId: Type.String(),
            provisioningState: Type.String(),
            shareSubscriptionStatus: Type.String(),
            ...addedEach(Object.fromEntries(alsoShown.map((name) => [name, Type.String()]))),
          }),
        }),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel({ properties, share, place = '' }: Body, previous, { now, principal }) {
          const { invitationId, sourceShareLocation, expirationDate } = properties
          const from = previous ?? share
          // It was there when the body was prepared.
          if (from === undefined) throw refuse.Conflict({ id: place })
          return {
            objectId: previous?.objectId ?? ids.uuid(),
            invitationId: invitationId.toLowerCase(),
            sourceShareLocation,
            shareKey: from.shareKey,
            card: from.card,
            createdAt: previous?.createdAt ?? isoTime(now),
            userName: previous?.userName ?? principal.displayName,
            tenant: previous?.tenant ?? principal.tenantId,
            ...(expirationDate === undefined ? {} : { expirationDate }),
          }
        },
        fromModel: show,
      },
    ],
    async prepare({ id, principal, now }, body: Body) {
      const current = await reader.get(id)
      // The id is of this type, so is its model.
      const model = current?.model as ShareSubscription | undefined
      const wanted = body.properties.invitationId.toLowerCase()
      if (model?.invitationId === wanted && current?.state === 'Succeeded') {
        return { ...body, place: id.text }
      }
      const { shareKey, card } = await requireInvitation(wanted, principal, now, deps)
      return { ...body, share: { shareKey, card } }
    },
    rules({ desired, previous }) {
      return previous !== undefined && previous.invitationId !== desired.invitationId
        ? [{ path: 'properties.invitationId', message: 'is of another share, and cannot change' }]
        : []
    },
    // Data sets are mapped as soon as it is there.
    protocol: { answers: { created: { isAwaited: true } } },
    reconcile: projectionReconciler<ShareSubscription, Seen>(
      {
        async read({ id, desired, model }) {
          const row = await grants.grantAt(id.key)
          if (row === undefined) return undefined
          // Nothing is left to erase where it is another's.
          if (desired === undefined && row.id !== model.objectId) return undefined
          return { status: await shownStatus(deps, row), generation: row.card.generation }
        },
        async write({ id, desired, generation, now }) {
          const invitation = await grants.invitation(desired.invitationId)
          const accepted = await grants.accept({
            id: desired.objectId,
            subscriptionKey: id.key,
            shareKey: desired.shareKey,
            invitationId: desired.invitationId,
            status: 'Active',
            sharedAt: now,
            expiresAt:
              desired.expirationDate === undefined ? null : Date.parse(desired.expirationDate),
            card: {
              ...desired.card,
              generation,
              consumerName: desired.userName,
              consumerEmail: desired.userName,
              consumerTenant: desired.tenant,
            },
          })
          if (!accepted) {
            throw never('InvitationNotPending', 'the invitation was answered by another meanwhile')
          }
          if (invitation !== undefined) deps.wakes.wake(invitation.resourceKey)
        },
        async erase({ id, model }) {
          const run = await deps.runs.activeOf(id.key)
          if (run !== undefined) {
            await deps.runs.cancel(run.id, 'The share subscription was deleted.')
            deps.runner.wake()
            throw new StepFailure('later', 'SynchronizationInProgress', 'a run is still stopping')
          }
          await deps.runs.removeWith({ id: model.objectId, subscriptionKey: id.key })
        },
      },
      deps.wakes,
    ),
    actions: subscriptionActions(deps),
  })
}

function show(model: ShareSubscription, { state, observed }: View) {
  // Written by the reconciler above.
  const seen = observed as Seen | null | undefined
  const { card } = model
  return {
    properties: {
      invitationId: model.invitationId,
      sourceShareLocation: model.sourceShareLocation,
      ...(model.expirationDate === undefined ? {} : { expirationDate: model.expirationDate }),
      createdAt: model.createdAt,
      providerEmail: card.providerEmail,
      providerName: card.providerName,
      providerTenantName: card.providerTenant,
      provisioningState: state,
      ...(card.description === undefined ? {} : { shareDescription: card.description }),
      shareKind: card.shareKind,
      shareName: card.shareName,
      // One that failed has no share, such as the later of two that accept the same invitation (decision 0153).
      shareSubscriptionStatus: seen?.status ?? (state === 'Failed' ? 'Revoked' : 'Active'),
      ...(card.terms === undefined ? {} : { shareTerms: card.terms }),
      userEmail: model.userName,
      userName: model.userName,
    },
  }
}
