/**
 * Sets, lists, verifies and ends passwords, secrets and sessions of principals. Never returns a stored credential.
 */

import type { Credentials, SecretRecord, SecretUsed } from './credentials.ts'
import { recordCredentialChange } from './directory-activity.ts'
import type { DirectoryCache } from './directory-cache.ts'
import { type DirectoryContext, readPrincipal } from './directory-rows.ts'
import { refuseIdentity } from './errors.ts'
import { directoryFeed } from './feed-watch.ts'
import { checkPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import type { PrincipalRecord } from './principal-record.ts'
import { checkDisplayName, parseObjectId } from './principal-rules.ts'
import { endSession, endSessionsOf, listSessions, type Session } from './sessions.ts'

export interface PrincipalCredentials {
  /** Also ends the user's sessions. */
  setPassword(userId: string, password: string): Promise<void>
  /** Adds a secret to a service principal or a user. The value is shown this once. */
  addSecret(
    principalId: string,
    secret?: { readonly displayName?: string; readonly expiresAt?: number },
  ): Promise<SecretRecord & { readonly value: string }>
  removeSecret(principalId: string, secretId: string): Promise<void>
  secrets(principalId: string): Promise<readonly SecretRecord[]>
  /** The unexpired secret of this principal that matches. Takes constant time in the secret. */
  verifySecret(principalId: string, secret: string): Promise<SecretUsed | undefined>
  /** The enabled user with this name and password. Takes the same time whatever is wrong. */
  verifyPassword(
    signInName: string,
    password: string,
  ): Promise<{ readonly user: PrincipalRecord; readonly credentialId: string } | undefined>
  /** The sessions in which a user is signed in now, newest first. */
  sessions(userId: string): Promise<readonly Session[]>
  /** Ends one session and the tokens issued for it. */
  endSession(userId: string, sessionId: string): Promise<void>
}

export function openPrincipalCredentials(
  { clock, ids, limits, sql }: DirectoryContext,
  {
    cache,
    credentials,
    passwords,
  }: {
    readonly cache: DirectoryCache
    readonly credentials: Credentials
    readonly passwords: Passwords
  },
): PrincipalCredentials {
  return {
    async setPassword(userId, password) {
      const { displayName, signInName = '' } = await readPrincipal(sql, userId, 'User')
      await checkPassword(password, { displayName, signInName }, limits)
      const hash = await passwords.hash(password)
      await sql.transact(async (tx) => {
        const user = await readPrincipal(tx, userId, 'User')
        await credentials.storePassword(tx, user.id, hash)
        await endSessionsOf(tx, user.id, clock.now())
        recordCredentialChange(tx, user, { action: 'setPassword/action', path: 'password' })
      })
    },

    async addSecret(principalId, { displayName = '', expiresAt } = {}) {
      const value = ids.secret(32)
      const secret = credentials.freshSecret(
        displayName === '' ? '' : checkDisplayName(displayName, limits),
        expiresAt,
      )
      await sql.transact(async (tx) => {
        const principal = await readPrincipal(tx, principalId)
        if (principal.type === 'Group') {
          throw refuseIdentity.InvalidPrincipal({ reason: 'a group has no secrets' })
        }
        if (principal.publicClient) {
          throw refuseIdentity.InvalidPrincipal({ reason: 'a public client has no secrets' })
        }
        const existing = await credentials.secretsOf(tx, principal.id)
        if (existing.length >= limits.secretsPerPrincipalMax) {
          throw refuseIdentity.TooManySecrets({ limit: limits.secretsPerPrincipalMax })
        }
        await credentials.storeSecret(tx, principal.id, value, secret)
        await tx.follow(directoryFeed, principal.id)
        recordCredentialChange(tx, principal, {
          action: 'secrets/write',
          path: `secrets/${secret.id}`,
        })
      })
      return { ...secret, value }
    },

    async removeSecret(principalId, secretId) {
      await sql.transact(async (tx) => {
        const principal = await readPrincipal(tx, principalId)
        const removed = await tx.run(
          "delete from identity_credentials where id = ? and principal_id = ? and kind = 'secret'",
          parseObjectId(secretId) ?? '',
          principal.id,
        )
        if (removed === 0) throw refuseIdentity.SecretNotFound({ id: secretId.slice(0, 100) })
        await tx.follow(directoryFeed, principal.id)
        recordCredentialChange(tx, principal, {
          action: 'secrets/delete',
          path: `secrets/${secretId}`,
        })
      })
    },

    async secrets(principalId) {
      const principal = await readPrincipal(sql, principalId)
      return credentials.secretsOf(sql, principal.id)
    },

    verifySecret: (principalId, secret) => credentials.findSecret(principalId, secret),

    async verifyPassword(signInName, password) {
      const found = await credentials.findPassword(signInName, password)
      if (found === undefined) return undefined
      // The principal is read again: the check takes long enough for the account to be disabled meanwhile.
      const user = await cache.record(found.principalId)
      return user?.enabled === true ? { user, credentialId: found.credentialId } : undefined
    },

    async sessions(userId) {
      const user = await readPrincipal(sql, userId, 'User')
      return listSessions(sql, user.id, { now: clock.now(), limits })
    },

    async endSession(userId, sessionId) {
      await sql.transact(async (tx) => {
        const user = await readPrincipal(tx, userId, 'User')
        await endSession(tx, user.id, { id: sessionId, now: clock.now() })
      })
    },
  }
}
