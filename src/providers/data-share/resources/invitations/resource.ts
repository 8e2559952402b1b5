/** Invitations: made by a provider for a principal or an address, answered by whoever that is. */

import Type from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { sameJson } from '#kernel/patch.ts'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import { added } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineReconciled } from '#plane/declare/reconciled.ts'
import type { View } from '#plane/declare/wire.ts'
import { isoTime, proxyName, type ShareDependencies, types, version } from '../../dependencies.ts'
import { type Generation, projectionReconciler } from '../../domain/row-projection.ts'
import { moment } from '../../domain/schedules.ts'
import type { InvitationRow } from '../../domain/store/tables.ts'
import type { Share } from '../shares/resource.ts'

export interface Invitation {
  readonly invitationId: string
  readonly sentAt: string
  readonly userName: string
  readonly targetEmail?: string
  readonly targetActiveDirectoryId?: string
  readonly targetObjectId?: string
  readonly expirationDate?: string
}

type Target = Partial<
  Pick<Invitation, 'targetEmail' | 'targetActiveDirectoryId' | 'targetObjectId' | 'expirationDate'>
>

interface Seen extends Generation {
  readonly status: string
  readonly respondedAt: number | null
}

const uuid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' })

const text = Type.String()
const shownOfInvitation = {
  targetEmail: added(text),
  targetActiveDirectoryId: added(text),
  targetObjectId: added(text),
  expirationDate: added(text),
  sentAt: added(text),
  respondedAt: added(text),
  userName: added(text),
  userEmail: added(text),
}

export function invitations(deps: ShareDependencies): ResourceType {
  const { ids, grants, reader } = deps
  return defineReconciled<Invitation>({
    type: types.invitations,
    description: 'Offers of a share to a principal or an address.',
    scope: 'resource-group',
    name: proxyName,
    versions: [
      {
        date: version,
        body: Type.Object({
          properties: Type.Object({
            targetEmail: Type.Optional(
              Type.String({ maxLength: 320, pattern: '^[^@\\s]+@[^@\\s]+$' }),
            ),
            targetActiveDirectoryId: Type.Optional(uuid),
            targetObjectId: Type.Optional(uuid),
            expirationDate: Type.Optional(moment),
          }),
        }),
        problems({ properties }: { readonly properties: Target }) {
          const byEmail = properties.targetEmail !== undefined
          const byId =
            properties.targetActiveDirectoryId !== undefined ||
            properties.targetObjectId !== undefined
          if (byEmail !== byId) return []
          const message = byEmail
            ? 'not together with targetActiveDirectoryId or targetObjectId'
            : 'expected, or targetActiveDirectoryId with targetObjectId'
          return [{ path: 'properties.targetEmail', message }]
        },
        answer: Type.Object({
          properties: Type.Object({
            invitationId: Type.String(),
            invitationStatus: Type.String(),
            ...shownOfInvitation,
          }),
        }),
        unknownProperties: 'ignore',
        patch: 'none',
        toModel({ properties }: { readonly properties: Target }, previous, { now, principal }) {
          const { targetEmail, targetActiveDirectoryId, targetObjectId, expirationDate } =
            properties
          return {
            invitationId: previous?.invitationId ?? ids.uuid(),
            sentAt: previous?.sentAt ?? isoTime(now),
            userName: previous?.userName ?? principal.displayName,
            ...(targetEmail === undefined ? {} : { targetEmail }),
            ...(targetActiveDirectoryId === undefined
              ? {}
              : { targetActiveDirectoryId: targetActiveDirectoryId.toLowerCase() }),
            ...(targetObjectId === undefined
              ? {}
              : { targetObjectId: targetObjectId.toLowerCase() }),
            ...(expirationDate === undefined ? {} : { expirationDate }),
          }
        },
        fromModel: showInvitation,
      },
    ],
    rules: ({ desired, previous }) => targetProblems(desired, previous),
    // Whoever is invited may answer as soon as the id is known.
    protocol: { answers: { created: { isAwaited: true } } },
    reconcile: projectionReconciler<Invitation, Seen>(
      {
        read: async ({ id, desired }) => seenOf(await grants.invitationAt(id.key), desired),
        async write({ id, desired, generation }) {
          const shareId = parentOf(id)
          const share = await reader.get(shareId)
          // The id is of that type, so is its model.
          const model = share?.model as Share | undefined
          const account = await reader.get(parentOf(shareId))
          const row: InvitationRow = {
            id: desired.invitationId,
            resourceKey: id.key,
            shareKey: shareId.key,
            ...targetOf(desired),
            expiresAt:
              desired.expirationDate === undefined ? null : Date.parse(desired.expirationDate),
            status: 'Pending',
            sentAt: Date.parse(desired.sentAt),
            respondedAt: null,
            card: {
              invitationName: nameOf(id),
              location: account?.location ?? 'local',
              shareName: nameOf(shareId),
              description: model?.description,
              terms: model?.terms,
              shareKind: model?.shareKind ?? 'CopyBased',
              providerName: desired.userName,
              providerEmail: desired.userName,
              providerTenant: deps.tenantId,
              generation,
            },
          }
          await grants.writeInvitation(row)
        },
        erase: ({ id }) => grants.withdraw(id.key),
      },
      deps.wakes,
    ),
    sample: {
      name: (seed) => `invitation-${seed}`,
      body: () => ({ properties: { targetEmail: 'consumer@example.net' } }),
      changed: () => ({
        properties: {
          targetEmail: 'consumer@example.net',
          expirationDate: '2030-01-01T00:00:00Z',
        },
      }),
    },
  })
}

function seenOf(row: InvitationRow | undefined, desired: Invitation | undefined): Seen | undefined {
  if (row === undefined) return undefined
  const { status, respondedAt, card, tenantId, objectId, email } = row
  // Earlier versions kept whom it was for first.
  const isOfAnother =
    desired !== undefined && !sameJson({ tenantId, objectId, email }, targetOf(desired))
  if (isOfAnother && status === 'Pending') return undefined
  return { status, respondedAt, generation: card.generation }
}

/** Whoever was invited first may be about to answer. */
function targetProblems(desired: Invitation, previous: Invitation | undefined): readonly Problem[] {
  if (previous === undefined || sameJson(targetOf(previous), targetOf(desired))) return []
  const message = 'the invitation is for another, which cannot change: make another invitation'
  return [{ path: 'properties', message }]
}

function targetOf({
  targetEmail,
  targetActiveDirectoryId,
  targetObjectId,
}: Invitation): Pick<InvitationRow, 'tenantId' | 'objectId' | 'email'> {
  return {
    tenantId: targetActiveDirectoryId ?? null,
    objectId: targetObjectId ?? null,
    email: targetEmail?.toLowerCase() ?? null,
  }
}

function showInvitation(model: Invitation, { observed }: View) {
  // Written by the reconciler above.
  const seen = observed as Seen | null | undefined
  return {
    properties: {
      ...model,
      userEmail: model.userName,
      invitationStatus: seen?.status ?? 'Pending',
      ...(seen?.respondedAt == null ? {} : { respondedAt: isoTime(seen.respondedAt) }),
    },
  }
}
