/** Audit records for changes of the directory. A record says that a credential changed, never its value. */

import type { RecordedTx } from '#activity/recorded-sql.ts'
import type { LocalType, PrincipalRecord } from './principal-record.ts'

const collections: Readonly<Record<LocalType, string>> = {
  User: 'users',
  Group: 'groups',
  ServicePrincipal: 'servicePrincipals',
}

/** `before` is undefined for a new principal and `after` for a deleted one. */
export function recordPrincipalChange(
  tx: RecordedTx,
  before: PrincipalRecord | undefined,
  after: PrincipalRecord | undefined,
): void {
  const principal = after ?? before
  if (principal === undefined) return
  tx.describe({
    action: `Directory/${collections[principal.type]}/${after === undefined ? 'delete' : 'write'}`,
    target: pathOf(principal),
    ...(before === undefined ? {} : { before: shown(before) }),
    ...(after === undefined ? {} : { after: shown(after) }),
  })
}

export function recordMemberChange(
  tx: RecordedTx,
  group: PrincipalRecord,
  memberId: string,
  verb: 'write' | 'delete',
): void {
  tx.describe({
    action: `Directory/groups/members/${verb}`,
    target: `${pathOf(group)}/members/${memberId}`,
  })
}

export function recordCredentialChange(
  tx: RecordedTx,
  principal: PrincipalRecord,
  { action, path }: { readonly action: string; readonly path: string },
): void {
  const collection = collections[principal.type]
  tx.describe({
    action: `Directory/${collection}/${action}`,
    target: `${pathOf(principal)}/${path}`,
  })
}

function pathOf({ type, id }: PrincipalRecord): string {
  return `/directory/${collections[type]}/${id}`
}

function shown(principal: PrincipalRecord): object {
  const { displayName, signInName, clientId, redirectUris, enabled, attributes } = principal
  return {
    displayName,
    signInName,
    clientId,
    redirectUris,
    enabled,
    attributes,
  }
}
