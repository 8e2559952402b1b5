/** The receiver of an invitation: a principal by id, or a user of this directory by sign-in name. */

import type { Principal } from '#kernel/principal.ts'
import { isoTime, type ShareDependencies } from '../dependencies.ts'
import { refuseShare } from '../errors.ts'
import type { InvitationRow } from './store/tables.ts'

export async function isFor(
  invitation: InvitationRow,
  principal: Principal,
  { directory, tenantId }: Pick<ShareDependencies, 'directory' | 'tenantId'>,
): Promise<boolean> {
  const { email, objectId, tenantId: wanted } = invitation
  if (email === null) {
    const isHim = objectId === null || objectId === principal.id
    return isHim && (wanted === null || wanted === principal.tenantId.toLowerCase())
  }
  return (await vouchedName(principal, { directory, tenantId }))?.toLowerCase() === email
}

/** The caller's sign-in name, if this directory confirms it; other names prove nothing. */
export async function vouchedName(
  principal: Principal,
  { directory, tenantId }: Pick<ShareDependencies, 'directory' | 'tenantId'>,
): Promise<string | undefined> {
  if (principal.type !== 'User' || principal.tenantId !== tenantId) return undefined
  const isKnown = (await directory.find(principal.id)) !== undefined
  return isKnown ? principal.displayName : undefined
}

/** The caller's pending invitation. Throws the refusals. */
export async function requireInvitation(
  id: string,
  principal: Principal,
  now: number,
  deps: Pick<ShareDependencies, 'directory' | 'tenantId' | 'grants'>,
): Promise<InvitationRow> {
  const found = await deps.grants.invitation(id.toLowerCase())
  if (found === undefined || !(await isFor(found, principal, deps))) {
    throw refuseShare.InvitationNotFound({ id })
  }
  const expired = found.expiresAt !== null && found.expiresAt <= now
  if (expired || found.status !== 'Pending') {
    throw refuseShare.InvitationNotPending({ id, status: expired ? 'Expired' : found.status })
  }
  return found
}

export function showConsumerInvitation(
  row: InvitationRow,
  qualifiedType: string,
  { dataSetCount }: { readonly dataSetCount: number },
): object {
  const { card } = row
  return {
    id: `/providers/${qualifiedType.split('/')[0]}/locations/${card.location}/consumerInvitations/${row.id}`,
    name: card.invitationName,
    type: qualifiedType,
    properties: {
      invitationId: row.id,
      invitationStatus: row.status,
      dataSetCount,
      description: card.description,
      location: card.location,
      providerEmail: card.providerEmail,
      providerName: card.providerName,
      providerTenantName: card.providerTenant,
      sentAt: isoTime(row.sentAt),
      shareName: card.shareName,
      termsOfUse: card.terms,
      ...(row.respondedAt === null ? {} : { respondedAt: isoTime(row.respondedAt) }),
      ...(row.expiresAt === null ? {} : { expirationDate: isoTime(row.expiresAt) }),
    },
  }
}
