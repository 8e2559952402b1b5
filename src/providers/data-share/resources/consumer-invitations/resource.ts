/** Invitations as those see them who are invited: below the tenant, since they may hold no subscription yet. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { defineActions } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { asResource } from '#plane/declare/answers.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { type ShareDependencies, types, version } from '../../dependencies.ts'
import { isFor, requireInvitation, showConsumerInvitation } from '../../domain/invitee.ts'
import { emailActions } from '../../domain/registrations.ts'
import type { InvitationRow } from '../../domain/store/tables.ts'
import { refuseShare } from '../../errors.ts'

const type = 'DataShare/locations/consumerInvitations'
const text = Type.String()
const answer = Type.Object({
  properties: Type.Object({
    invitationId: text,
    invitationStatus: text,
    dataSetCount: Type.Integer(),
    description: Type.Optional(text),
    location: text,
    providerEmail: text,
    providerName: text,
    providerTenantName: text,
    sentAt: text,
    shareName: text,
    termsOfUse: Type.Optional(text),
    respondedAt: Type.Optional(text),
    expirationDate: Type.Optional(text),
  }),
})

const dataSetsMax = 1000
/** Invitations looked through for one page; it may come back short. */
const scannedMax = 2000

export function consumerInvitations(deps: ShareDependencies): readonly ResourceType[] {
  const { grants, reader, words } = deps
  const shown = async (row: InvitationRow): Promise<object> =>
    showConsumerInvitation(row, qualify(words, type), {
      dataSetCount: await reader.count({
        type: types.dataSets,
        under: row.shareKey,
        limit: dataSetsMax,
      }),
    })
  return [
    defineComputed({
      type: 'DataShare/listInvitations',
      description: 'The invitations that await the caller’s answer.',
      scope: 'tenant',
      apiVersions: [version],
      answer: added(answer),
      openList: true,
      source: {
        async list({ principal, cursor, limit, now }) {
          const items: object[] = []
          let after = cursor ?? ''
          for (let scanned = 0; scanned < scannedMax; ) {
            const rows = await grants.pending(after, limit)
            for (const row of rows) {
              const isOpen = row.expiresAt === null || row.expiresAt > now
              if (isOpen && (await isFor(row, principal, deps))) items.push(await shown(row))
              after = row.id
              if (items.length === limit) return { items, next: after }
            }
            scanned += rows.length
            if (rows.length < Math.min(limit, 500)) return { items }
          }
          return { items, next: after }
        },
      },
    }),
    defineActions({
      type: 'DataShare/locations',
      description: 'Where invitations are answered.',
      scope: 'tenant',
      apiVersions: [version],
      actions: {
        ...emailActions(deps),
        rejectInvitation: {
          method: 'POST',
          description: 'Turn an invitation down',
          open: true,
          body: Type.Object({
            properties: Type.Object({ invitationId: Type.String({ maxLength: 100 }) }),
          }),
          answer: added(asResource(answer)),
          async run(
            { principal, now },
            body: { readonly properties: { readonly invitationId: string } },
          ) {
            const { invitationId } = body.properties
            const row = await requireInvitation(invitationId, principal, now, deps)
            if (!(await grants.reject(row.id))) {
              const status = (await grants.invitation(row.id))?.status ?? 'Withdrawn'
              throw refuseShare.InvitationNotPending({ id: row.id, status })
            }
            deps.wakes.wake(row.resourceKey)
            return { status: 200, body: await shown({ ...row, status: 'Rejected' }) }
          },
        },
      },
    }),
    defineComputed({
      type: 'DataShare/locations/consumerInvitations',
      description: 'One invitation, as the invited sees it.',
      scope: 'tenant',
      apiVersions: [version],
      answer: added(answer),
      source: {
        async get({ id, principal }) {
          const row = await grants.invitation(nameOf(id).toLowerCase())
          if (row === undefined || !(await isFor(row, principal, deps))) {
            throw refuse.ResourceNotFound({ id: id.text })
          }
          return shown(row)
        },
      },
    }),
  ]
}
