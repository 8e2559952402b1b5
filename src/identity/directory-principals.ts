/** Finds, lists, changes, revokes and deletes principals. */

import type { SqlTx } from '#stores/store.ts'
import { signInKeyOf } from './credentials.ts'
import { recordPrincipalChange } from './directory-activity.ts'
import {
  type DirectoryContext,
  type Page,
  pageOf,
  readPrincipal,
  removePrincipal,
} from './directory-rows.ts'
import { refuseIdentity } from './errors.ts'
import { directoryFeed } from './feed-watch.ts'
import type { IdentityLimits } from './limits.ts'
import { type AttributeChange, changeAttributes } from './principal-attributes.ts'
import {
  type LocalType,
  type PrincipalRecord,
  principalColumns,
  toPrincipalRecord,
} from './principal-record.ts'
import { checkDisplayName, checkRedirectUris, parseObjectId } from './principal-rules.ts'
import { endSessionsOf, endSessionsWith } from './sessions.ts'

interface PrincipalChange {
  readonly displayName?: string
  readonly enabled?: boolean
  readonly redirectUris?: readonly string[]
  readonly attributes?: AttributeChange
}

export interface Principals {
  get(id: string, type?: LocalType): Promise<PrincipalRecord>
  /** Principals in order of id; `after` is the last id of the previous page. */
  list(type: LocalType, after: string | undefined, limit: number): Promise<Page<PrincipalRecord>>
  /** Changes the given properties. Disabling ends sign-ins and sessions at once and is refused for the owner. */
  update(id: string, change: PrincipalChange, type?: LocalType): Promise<PrincipalRecord>
  /**
   * Deletes the principal with its memberships, credentials and sessions. Refused for the owner (`OwnerProtected`).
   */
  delete(id: string, type?: LocalType): Promise<void>
  /** The user with this sign-in name, enabled or not. */
  bySignInName(signInName: string): Promise<PrincipalRecord | undefined>
  /** The service principal with this client id, enabled or not. */
  byClientId(clientId: string): Promise<PrincipalRecord | undefined>
  /** The enabled principal that may sign in with this client id. A user who has a secret uses the user's id. */
  clientPrincipal(clientId: string): Promise<PrincipalRecord | undefined>
  /** Ends all tokens and sessions of the principal. Its password and secrets can still get new ones. */
  revoke(id: string, type?: LocalType): Promise<void>
}

export function openPrincipals({ clock, limits, sql }: DirectoryContext): Principals {
  const endSessions = async (tx: SqlTx, { id, clientId }: PrincipalRecord): Promise<void> => {
    await endSessionsOf(tx, id, clock.now())
    await endSessionsWith(tx, clientId, clock.now())
  }

  return {
    get: (id, type) => readPrincipal(sql, id, type),

    async list(type, after, limit) {
      const rows = await sql.all(
        `select ${principalColumns} from identity_principals
          where type = ? and id > ? order by id limit ?`,
        type,
        after ?? '',
        limit + 1,
      )
      return pageOf(rows.map(toPrincipalRecord), limit)
    },

    async update(id, change, type) {
      return sql.transact(async (tx) => {
        const before = await readPrincipal(tx, id, type)
        if (change.enabled === false && before.enabled) await refuseOwner(tx, before.id)
        const after = changedPrincipal(before, change, limits)
        await tx.run(
          'update identity_principals set display_name = ?, enabled = ?, redirect_uris = ?, attributes = ?, generation = ? where id = ?',
          after.displayName,
          after.enabled ? 1 : 0,
          JSON.stringify(after.redirectUris),
          JSON.stringify(after.attributes),
          after.generation,
          after.id,
        )
        if (!after.enabled) await endSessions(tx, after)
        await tx.follow(directoryFeed, after.id)
        recordPrincipalChange(tx, before, after)
        return after
      })
    },

    async delete(id, type) {
      await sql.transact(async (tx) => {
        const principal = await readPrincipal(tx, id, type)
        await refuseOwner(tx, principal.id)
        await removePrincipal(tx, principal, clock.now())
        recordPrincipalChange(tx, principal, undefined)
      })
    },

    async clientPrincipal(clientId) {
      const id = parseObjectId(clientId)
      if (id === undefined) return undefined
      const [row] = await sql.all(
        `select ${principalColumns} from identity_principals where enabled = 1 and (client_id = ?
          or (id = ? and type = 'User' and exists (select 1 from identity_credentials c
            where c.principal_id = identity_principals.id and c.kind = 'secret')))`,
        id,
        id,
      )
      return row === undefined ? undefined : toPrincipalRecord(row)
    },

    async byClientId(clientId) {
      const id = parseObjectId(clientId)
      if (id === undefined) return undefined
      const [row] = await sql.all(
        `select ${principalColumns} from identity_principals where client_id = ?`,
        id,
      )
      return row === undefined ? undefined : toPrincipalRecord(row)
    },

    async bySignInName(signInName) {
      const [row] = await sql.all(
        `select ${principalColumns} from identity_principals where sign_in_key = ?`,
        signInKeyOf(signInName),
      )
      return row === undefined ? undefined : toPrincipalRecord(row)
    },

    async revoke(id, type) {
      await sql.transact(async (tx) => {
        const principal = await readPrincipal(tx, id, type)
        await tx.run(
          'update identity_principals set generation = generation + 1 where id = ?',
          principal.id,
        )
        await endSessions(tx, principal)
      })
    },
  }
}

function changedPrincipal(
  before: PrincipalRecord,
  change: PrincipalChange,
  limits: IdentityLimits,
): PrincipalRecord {
  if (change.redirectUris !== undefined && before.type !== 'ServicePrincipal') {
    throw refuseIdentity.InvalidPrincipal({
      reason: 'only service principals have redirect URIs',
    })
  }
  return {
    ...before,
    displayName:
      change.displayName === undefined
        ? before.displayName
        : checkDisplayName(change.displayName, limits),
    enabled: change.enabled ?? before.enabled,
    // A principal that is enabled again does not get its old tokens back.
    generation: before.generation + (change.enabled === false && before.enabled ? 1 : 0),
    redirectUris:
      change.redirectUris === undefined
        ? before.redirectUris
        : checkRedirectUris(change.redirectUris, limits),
    attributes:
      change.attributes === undefined
        ? before.attributes
        : changeAttributes(before.attributes, change.attributes, limits),
  }
}

async function refuseOwner(tx: SqlTx, id: string): Promise<void> {
  const [owner] = await tx.all("select value from identity_settings where name = 'owner'")
  if (owner?.['value'] === id) throw refuseIdentity.OwnerProtected()
}
