/**
 * What the files of the directory share: the store, the limits, and functions that read, create and remove one
 * principal's row.
 */

import type { Clock, Ids } from '#kernel/ports.ts'
import type { Sql, SqlTx } from '#stores/store.ts'
import type { DirectorySql } from './directory-sql.ts'
import { refuseIdentity } from './errors.ts'
import { directoryFeed } from './feed-watch.ts'
import type { IdentityLimits } from './limits.ts'
import {
  type LocalType,
  type PrincipalRecord,
  principalColumns,
  toPrincipalRecord,
} from './principal-record.ts'
import { checkDisplayName, parseObjectId } from './principal-rules.ts'
import { endSessionsOf, endSessionsWith } from './sessions.ts'

export interface DirectoryContext {
  readonly sql: DirectorySql
  readonly clock: Clock
  readonly ids: Ids
  readonly limits: IdentityLimits
}

export interface Page<T> {
  readonly items: readonly T[]
  /** The value of `after` for the next page; `undefined` on the last page. */
  readonly next: string | undefined
}

export function freshPrincipal(
  type: LocalType,
  displayName: string,
  { clock, ids, limits }: DirectoryContext,
): PrincipalRecord {
  return {
    id: ids.uuid(),
    type,
    displayName: checkDisplayName(displayName, limits),
    signInName: undefined,
    clientId: undefined,
    redirectUris: [],
    enabled: true,
    attributes: {},
    createdAt: clock.now(),
    // The generation does not start at 0: a principal that is created again with the same id must not get the
    // tokens of the deleted one.
    generation: clock.now(),
    publicClient: false,
  }
}

/**
 * Refuses with `PrincipalNotFound` where the id names nothing of this type. Without a type, any type is accepted.
 */
export async function readPrincipal(
  from: Pick<Sql, 'all'>,
  id: string,
  type?: LocalType,
): Promise<PrincipalRecord> {
  const objectId = parseObjectId(id)
  const [row] =
    objectId === undefined
      ? []
      : await from.all(`select ${principalColumns} from identity_principals where id = ?`, objectId)
  const found = row === undefined ? undefined : toPrincipalRecord(row)
  if (found === undefined || (type !== undefined && found.type !== type)) {
    throw refuseIdentity.PrincipalNotFound({ type: type ?? 'principal', id: id.slice(0, 100) })
  }
  return found
}

/** Removes the principal with everything that belongs to it. */
export async function removePrincipal(
  tx: SqlTx,
  principal: PrincipalRecord,
  now: number,
): Promise<void> {
  await tx.run(
    'delete from identity_memberships where group_id = ? or member_id = ?',
    principal.id,
    principal.id,
  )
  await tx.run('delete from identity_credentials where principal_id = ?', principal.id)
  await tx.run(
    'delete from identity_consents where principal_id = ? or client_id = ?',
    principal.id,
    principal.clientId ?? principal.id,
  )
  await endSessionsOf(tx, principal.id, now)
  await endSessionsWith(tx, principal.clientId, now)
  await tx.run('delete from identity_principals where id = ?', principal.id)
  await tx.follow(directoryFeed, principal.id)
}

/** One item more than the page holds was read, to see whether there is a next page. */
export function pageOf<T extends { readonly id: string }>(
  items: readonly T[],
  limit: number,
): Page<T> {
  return items.length > limit
    ? { items: items.slice(0, limit), next: items[limit - 1]?.id }
    : { items, next: undefined }
}
