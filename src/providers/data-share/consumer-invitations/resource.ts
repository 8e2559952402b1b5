/** Invitations as those see them who are invited: below the tenant, since they may hold no subscription yet. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { defineResource, type ResourceType } from '#plane/define.ts'
import type { InvitationRow } from '../ledger/grants.ts'
import { type ShareParts, types, version } from '../share-parts.ts'
import { isFor, requireInvitation, showConsumerInvitation } from './own.ts'
import { emailActions } from './registrations.ts'

const type = 'DataShare/consumerInvitations'
const anyName = { pattern: /^.{1,260}$/s, rule: '1 to 260 characters' }
const dataSetsMax = 1000
/** Invitations looked through for one page; it may come back short. */
const scannedMax = 2000

export function consumerInvitations(parts: ShareParts): readonly ResourceType[] {
  const { grants, reader, words } = parts
  const shown = async (row: InvitationRow): Promise<object> =>
    showConsumerInvitation(row, qualify(words, type), {
      dataSetCount: await reader.count({
        type: types.dataSets,
        under: row.shareKey,
        limit: dataSetsMax,
      }),
    })
  return [
    defineResource({
      type: 'DataShare/listInvitations',
      description: 'The invitations that await the caller’s answer.',
      scope: 'tenant',
      tracked: false,
      name: anyName,
      versions: [],
      apiVersions: [version],
      openList: true,
      source: {
        async list({ principal, cursor, limit, now }) {
          const items: object[] = []
          let after = cursor ?? ''
          for (let scanned = 0; scanned < scannedMax; ) {
            const rows = await grants.pending(after, limit)
            for (const row of rows) {
              const isOpen = row.expiresAt === null || row.expiresAt > now
              if (isOpen && (await isFor(row, principal, parts))) items.push(await shown(row))
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
    defineResource({
      type: 'DataShare/locations',
      description: 'Where invitations are answered.',
      scope: 'tenant',
      tracked: false,
      name: anyName,
      versions: [],
      apiVersions: [version],
      actions: {
        ...emailActions(parts),
        rejectInvitation: {
          method: 'POST',
          description: 'Turn an invitation down',
          open: true,
          body: Type.Object({
            properties: Type.Object({ invitationId: Type.String({ maxLength: 100 }) }),
          }),
          async run(
            { principal, now },
            body: { readonly properties: { readonly invitationId: string } },
          ) {
            const { invitationId } = body.properties
            const row = await requireInvitation(invitationId, principal, now, parts)
            await grants.reject(row.id)
            parts.wakes.wake(row.resourceKey)
            return { status: 200, body: await shown({ ...row, status: 'Rejected' }) }
          },
        },
      },
    }),
    defineResource({
      type: 'DataShare/locations/consumerInvitations',
      description: 'One invitation, as the invited sees it.',
      scope: 'tenant',
      tracked: false,
      name: anyName,
      versions: [],
      apiVersions: [version],
      source: {
        async get({ id, principal }) {
          const row = await grants.invitation(nameOf(id).toLowerCase())
          if (row === undefined || !(await isFor(row, principal, parts))) {
            throw refuse.ResourceNotFound({ id: id.text })
          }
          return shown(row)
        },
      },
    }),
  ]
}
