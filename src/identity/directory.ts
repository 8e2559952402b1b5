/**
 * The directory: users, groups and service principals, their memberships and credentials. Every change
 * that can alter what somebody may do appears in the feed within its own transaction. Decides nothing
 * about permissions, and never returns a stored credential.
 */

import { recordedSql } from '#activity/recorded-sql.ts'
import { refuse } from '#kernel/error.ts'
import type { Clock, Ids } from '#kernel/ports.ts'
import type { WorkloadIdentities } from '#kernel/principal.ts'
import type { Feed, Sql, SqlTx } from '#stores/store.ts'
import { openCredentials, type SecretRecord, signInKeyOf } from './credentials.ts'
import { tellCredential, tellMember, tellPrincipal } from './directory-activity.ts'
import { createDirectoryCache, type DirectoryCache } from './directory-cache.ts'
import { refuseIdentity } from './errors.ts'
import { directoryFeed, type FeedWatch, watchFeed } from './feed-watch.ts'
import { insertPrincipal as insert } from './insert-principal.ts'
import { defaultIdentityLimits, type IdentityLimits } from './limits.ts'
import { checkPassword } from './password-rules.ts'
import { createPasswords, type PasswordCost, type Passwords } from './passwords.ts'
import { type AttributeChange, changeAttributes } from './principal-attributes.ts'
import {
  type LocalType,
  type PrincipalRecord,
  principalColumns,
  toPrincipalRecord,
} from './principal-record.ts'
import {
  checkClientId,
  checkDisplayName,
  checkRedirectUris,
  checkSignInName,
  parseObjectId,
} from './principal-rules.ts'
import { endSession, endSessionsOf, listSessions, type Session } from './sessions.ts'
import { workloadOf } from './workload-of.ts'

export interface Page<T> {
  readonly items: readonly T[]
  /** Give this as `after` for the next page; `undefined` on the last one. */
  readonly next: string | undefined
}

/** Refuses with `PrincipalNotFound` wherever an id names nothing of the type asked for. */
export interface IdentityDirectory extends DirectoryCache, WorkloadIdentities {
  /** Refuses a sign-in name that is taken (`PrincipalExists`) and a weak password (`InvalidPassword`). */
  createUser(user: {
    readonly displayName: string
    readonly signInName: string
    readonly password?: string
    /** The password was made up by us: it keeps to every rule, and checking would load the list of common ones. */
    readonly generated?: boolean
  }): Promise<PrincipalRecord>
  createGroup(group: { readonly displayName: string }): Promise<PrincipalRecord>
  /** With a first secret, shown this once; a public client has none, and may bring the client id it is known by. */
  createServicePrincipal(principal: {
    readonly displayName: string
    readonly redirectUris?: readonly string[]
    readonly publicClient?: { readonly clientId?: string }
  }): Promise<{ readonly principal: PrincipalRecord; readonly clientSecret: string }>
  get(id: string, type?: LocalType): Promise<PrincipalRecord>
  /** In order of id; `after` is the last id seen. */
  list(type: LocalType, after: string | undefined, limit: number): Promise<Page<PrincipalRecord>>
  /** Changes what is given. Disabling ends sign-ins and sessions at once; not for the owner. */
  update(
    id: string,
    change: {
      readonly displayName?: string
      readonly enabled?: boolean
      readonly redirectUris?: readonly string[]
      readonly attributes?: AttributeChange
    },
    type?: LocalType,
  ): Promise<PrincipalRecord>
  /** With its memberships, credentials and sessions. Not for the owner (`OwnerProtected`). */
  delete(id: string, type?: LocalType): Promise<void>
  /** Adding twice is adding once. Groups may contain groups, and cycles are harmless. */
  addMember(groupId: string, memberId: string): Promise<void>
  removeMember(groupId: string, memberId: string): Promise<void>
  /** Direct members, in order of id. */
  members(groupId: string, after: string | undefined, limit: number): Promise<Page<PrincipalRecord>>
  /** Ends the user's sessions as well. */
  setPassword(userId: string, password: string): Promise<void>
  /** For service principals and users; the value is shown this once. */
  addSecret(
    principalId: string,
    secret?: { readonly displayName?: string; readonly expiresAt?: number },
  ): Promise<SecretRecord & { readonly value: string }>
  removeSecret(principalId: string, secretId: string): Promise<void>
  secrets(principalId: string): Promise<readonly SecretRecord[]>
  /** The user of that name, whatever can be done with it. */
  bySignInName(signInName: string): Promise<PrincipalRecord | undefined>
  /** The enabled principal that may sign in as this client: a client id, or a user's id who has a secret. */
  clientPrincipal(clientId: string): Promise<PrincipalRecord | undefined>
  /** The id of that secret, if it is one of the principal's that have not expired. Constant time in the secret. */
  verifySecret(principalId: string, secret: string): Promise<string | undefined>
  /** The enabled user whose name and password these are. Costs the same whatever is wrong. */
  verifyPassword(
    signInName: string,
    password: string,
  ): Promise<{ readonly user: PrincipalRecord; readonly credentialId: string } | undefined>
  /** Ends all tokens and sessions it has; its password and secrets stay good for new ones. */
  revoke(id: string, type?: LocalType): Promise<void>
  /** Where a user is signed in now, newest first. */
  sessions(userId: string): Promise<readonly Session[]>
  /** Ends one of them, with the tokens it got. */
  endSession(userId: string, sessionId: string): Promise<void>
  readonly watch: FeedWatch
}

interface DirectoryOptions {
  readonly sql: Sql
  /** `store.feed('directory')`. */
  readonly feed: Feed
  readonly clock: Clock
  readonly ids: Ids
  /** The vendor word, in the audit trail. */
  readonly namespace?: string
  readonly limits?: Partial<IdentityLimits>
  /** What password hashes cost; tests of other things lower it. */
  readonly passwordCost?: PasswordCost
}

export function openDirectory(options: DirectoryOptions): IdentityDirectory {
  const { clock, ids } = options
  const sql = recordedSql(options.sql, clock, options.namespace)
  const limits: IdentityLimits = { ...defaultIdentityLimits, ...options.limits }
  const passwords: Passwords = createPasswords(limits, options.passwordCost)
  const credentials = openCredentials({ sql, clock, ids, passwords })
  const watch = watchFeed(options.feed)
  const cache = createDirectoryCache({ sql, watch, remembered: limits.principalsRemembered })

  function fresh(type: LocalType, displayName: string): PrincipalRecord {
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
      // Not 0: one that comes back under the same id does not get the tokens of the one before.
      generation: clock.now(),
      publicClient: false,
    }
  }

  async function read(
    from: Pick<Sql, 'all'>,
    id: string,
    type: LocalType | undefined,
  ): Promise<PrincipalRecord> {
    const objectId = parseObjectId(id)
    const rows =
      objectId === undefined
        ? []
        : await from.all(
            `select ${principalColumns} from identity_principals where id = ?`,
            objectId,
          )
    const [row] = rows
    const found = row === undefined ? undefined : toPrincipalRecord(row)
    if (found === undefined || (type !== undefined && found.type !== type)) {
      throw refuseIdentity.PrincipalNotFound({ type: type ?? 'principal', id: id.slice(0, 100) })
    }
    return found
  }

  async function refuseOwner(tx: SqlTx, id: string): Promise<void> {
    const [owner] = await tx.all("select value from identity_settings where name = 'owner'")
    if (owner?.['value'] === id) throw refuseIdentity.OwnerProtected()
  }

  /** With all that hangs on it. */
  async function remove(tx: SqlTx, principal: PrincipalRecord): Promise<void> {
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
    await endSessionsOf(tx, principal.id, clock.now())
    await tx.run('delete from identity_principals where id = ?', principal.id)
    await tx.follow(directoryFeed, principal.id)
  }

  async function removeWorkload(tx: SqlTx, id: string): Promise<void> {
    await remove(tx, await read(tx, id, 'ServicePrincipal'))
  }

  function page<T extends { readonly id: string }>(items: readonly T[], limit: number): Page<T> {
    return items.length > limit
      ? { items: items.slice(0, limit), next: items[limit - 1]?.id }
      : { items, next: undefined }
  }

  return {
    ...cache,
    watch,

    async createUser({ displayName, signInName, password, generated = false }) {
      const user = {
        ...fresh('User', displayName),
        signInName: checkSignInName(signInName, limits),
      }
      if (password !== undefined && !generated) await checkPassword(password, user, limits)
      // Outside the transaction: it takes long, and its outcome depends on nothing in the store.
      const hash = password === undefined ? undefined : await passwords.hash(password)
      return sql.transact(async (tx) => {
        if (!(await insert(tx, user))) throw refuseIdentity.PrincipalExists({ signInName })
        if (hash !== undefined) await credentials.storePassword(tx, user.id, hash)
        tellPrincipal(tx, undefined, user)
        return user
      })
    },

    async createGroup({ displayName }) {
      const group = fresh('Group', displayName)
      await sql.transact(async (tx) => {
        await insert(tx, group)
        tellPrincipal(tx, undefined, group)
      })
      return group
    },

    async createServicePrincipal({ displayName, redirectUris, publicClient }) {
      const principal = {
        ...fresh('ServicePrincipal', displayName),
        clientId: checkClientId(publicClient?.clientId) ?? ids.uuid(),
        redirectUris: checkRedirectUris(redirectUris ?? [], limits),
        publicClient: publicClient !== undefined,
      }
      const clientSecret = ids.secret(32)
      const secret = credentials.freshSecret('first', undefined)
      await sql.transact(async (tx) => {
        // A user with a secret signs in under its own id, so that may be nobody's client id.
        const [taken] = await tx.all(
          'select 1 from identity_principals where id = ?',
          principal.clientId,
        )
        if (taken !== undefined || !(await insert(tx, principal))) {
          throw refuseIdentity.ClientIdExists({ clientId: principal.clientId })
        }
        tellPrincipal(tx, undefined, principal)
        if (publicClient !== undefined) return
        await credentials.storeSecret(tx, principal.id, clientSecret, secret)
      })
      return { principal, clientSecret }
    },

    get: (id, type) => read(sql, id, type),

    async list(type, after, limit) {
      const rows = await sql.all(
        `select ${principalColumns} from identity_principals
          where type = ? and id > ? order by id limit ?`,
        type,
        after ?? '',
        limit + 1,
      )
      return page(rows.map(toPrincipalRecord), limit)
    },

    async update(id, change, type) {
      return sql.transact(async (tx) => {
        const before = await read(tx, id, type)
        if (change.enabled === false && before.enabled) await refuseOwner(tx, before.id)
        if (change.redirectUris !== undefined && before.type !== 'ServicePrincipal') {
          throw refuseIdentity.InvalidPrincipal({
            reason: 'only service principals have redirect URIs',
          })
        }
        const after: PrincipalRecord = {
          ...before,
          displayName:
            change.displayName === undefined
              ? before.displayName
              : checkDisplayName(change.displayName, limits),
          enabled: change.enabled ?? before.enabled,
          // Enabled again it does not get back the tokens it had.
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
        await tx.run(
          'update identity_principals set display_name = ?, enabled = ?, redirect_uris = ?, attributes = ?, generation = ? where id = ?',
          after.displayName,
          after.enabled ? 1 : 0,
          JSON.stringify(after.redirectUris),
          JSON.stringify(after.attributes),
          after.generation,
          after.id,
        )
        if (!after.enabled) await endSessionsOf(tx, after.id, clock.now())
        await tx.follow(directoryFeed, after.id)
        tellPrincipal(tx, before, after)
        return after
      })
    },

    async delete(id, type) {
      await sql.transact(async (tx) => {
        const principal = await read(tx, id, type)
        await refuseOwner(tx, principal.id)
        await remove(tx, principal)
        tellPrincipal(tx, principal, undefined)
      })
    },

    of: (resourceKey) => workloadOf(sql, resourceKey),

    async give(resourceKey, { principalId, clientId, displayName }) {
      await sql.transact(async (tx) => {
        const held = await workloadOf(tx, resourceKey)
        if (held !== undefined && held !== principalId) await removeWorkload(tx, held)
        await tx.run(
          `insert into identity_workloads (resource_key, principal_id) values (?, ?)
            on conflict (resource_key) do update set principal_id = excluded.principal_id`,
          resourceKey,
          principalId,
        )
        const principal = { ...fresh('ServicePrincipal', displayName), id: principalId, clientId }
        if (await insert(tx, principal)) tellPrincipal(tx, undefined, principal)
      })
    },

    async take(resourceKey) {
      await sql.transact(async (tx) => {
        const held = await workloadOf(tx, resourceKey)
        if (held !== undefined) {
          const principal = await read(tx, held, 'ServicePrincipal')
          await remove(tx, principal)
          tellPrincipal(tx, principal, undefined)
        }
        await tx.run('delete from identity_workloads where resource_key = ?', resourceKey)
      })
    },

    async addMember(groupId, memberId) {
      await sql.transact(async (tx) => {
        const group = await read(tx, groupId, 'Group')
        const member = await read(tx, memberId, undefined)
        if (group.id === member.id) {
          throw refuseIdentity.InvalidPrincipal({ reason: 'a group cannot be a member of itself' })
        }
        await tx.run(
          'insert into identity_memberships (group_id, member_id) values (?, ?) on conflict do nothing',
          group.id,
          member.id,
        )
        await tx.follow(directoryFeed, member.id)
        tellMember(tx, group, member.id, 'write')
      })
    },

    async removeMember(groupId, memberId) {
      await sql.transact(async (tx) => {
        const group = await read(tx, groupId, 'Group')
        const member = parseObjectId(memberId) ?? ''
        const removed = await tx.run(
          'delete from identity_memberships where group_id = ? and member_id = ?',
          group.id,
          member,
        )
        if (removed === 0) {
          const id = memberId.slice(0, 100)
          throw refuseIdentity.MemberNotFound({ id, group: group.displayName })
        }
        await tx.follow(directoryFeed, member)
        tellMember(tx, group, member, 'delete')
      })
    },

    async members(groupId, after, limit) {
      const group = await read(sql, groupId, 'Group')
      const rows = await sql.all(
        `select ${principalColumns} from identity_principals
          where id in (select member_id from identity_memberships where group_id = ?)
          and id > ? order by id limit ?`,
        group.id,
        after ?? '',
        limit + 1,
      )
      return page(rows.map(toPrincipalRecord), limit)
    },

    async setPassword(userId, password) {
      const { displayName, signInName = '' } = await read(sql, userId, 'User')
      await checkPassword(password, { displayName, signInName }, limits)
      const hash = await passwords.hash(password)
      await sql.transact(async (tx) => {
        const user = await read(tx, userId, 'User')
        await credentials.storePassword(tx, user.id, hash)
        await endSessionsOf(tx, user.id, clock.now())
        tellCredential(tx, user, { action: 'setPassword/action', path: 'password' })
      })
    },

    async addSecret(principalId, { displayName = '', expiresAt } = {}) {
      const value = ids.secret(32)
      const secret = credentials.freshSecret(
        displayName === '' ? '' : checkDisplayName(displayName, limits),
        expiresAt,
      )
      await sql.transact(async (tx) => {
        const principal = await read(tx, principalId, undefined)
        if (principal.type === 'Group') {
          throw refuseIdentity.InvalidPrincipal({ reason: 'a group has no secrets' })
        }
        if (principal.publicClient) {
          throw refuseIdentity.InvalidPrincipal({ reason: 'a public client has no secrets' })
        }
        // Reading the row for update is not in the common subset; touching it has the same effect.
        await tx.run('update identity_principals set id = id where id = ?', principal.id)
        const existing = await credentials.secretsOf(tx, principal.id)
        if (existing.length >= limits.secretsPerPrincipalMax) {
          throw refuseIdentity.TooManySecrets({ limit: limits.secretsPerPrincipalMax })
        }
        await credentials.storeSecret(tx, principal.id, value, secret)
        await tx.follow(directoryFeed, principal.id)
        tellCredential(tx, principal, { action: 'secrets/write', path: `secrets/${secret.id}` })
      })
      return { ...secret, value }
    },

    async removeSecret(principalId, secretId) {
      await sql.transact(async (tx) => {
        const principal = await read(tx, principalId, undefined)
        const removed = await tx.run(
          "delete from identity_credentials where id = ? and principal_id = ? and kind = 'secret'",
          parseObjectId(secretId) ?? '',
          principal.id,
        )
        if (removed === 0) throw refuseIdentity.SecretNotFound({ id: secretId.slice(0, 100) })
        await tx.follow(directoryFeed, principal.id)
        tellCredential(tx, principal, { action: 'secrets/delete', path: `secrets/${secretId}` })
      })
    },

    async secrets(principalId) {
      const principal = await read(sql, principalId, undefined)
      return credentials.secretsOf(sql, principal.id)
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

    async bySignInName(signInName) {
      const [row] = await sql.all(
        `select ${principalColumns} from identity_principals where sign_in_key = ?`,
        signInKeyOf(signInName),
      )
      return row === undefined ? undefined : toPrincipalRecord(row)
    },

    verifySecret: (principalId, secret) => credentials.findSecret(principalId, secret),

    async verifyPassword(signInName, password) {
      const found = await credentials.findPassword(signInName, password)
      if (found === undefined) return undefined
      // Read again: the check took long enough for the account to be disabled meanwhile.
      const user = await cache.record(found.principalId)
      return user?.enabled === true ? { user, credentialId: found.credentialId } : undefined
    },

    async revoke(id, type) {
      await sql.transact(async (tx) => {
        const principal = await read(tx, id, type)
        await tx.run(
          'update identity_principals set generation = generation + 1 where id = ?',
          principal.id,
        )
        await endSessionsOf(tx, principal.id, clock.now())
      })
    },

    async sessions(userId) {
      const user = await read(sql, userId, 'User')
      return listSessions(sql, user.id, { now: clock.now(), limits })
    },

    async endSession(userId, sessionId) {
      await sql.transact(async (tx) => {
        const user = await read(tx, userId, 'User')
        await endSession(tx, user.id, { id: sessionId, now: clock.now() })
      })
    },
  }
}

/** The id a continuation token carries; refuses what this directory never handed out. */
export function parseAfter(token: string): string {
  if (!/^[0-9a-f-]{36}$/.test(token)) throw refuse.InvalidContinuationToken()
  return token
}
