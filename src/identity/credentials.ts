/**
 * Stores, compares and lists passwords and secrets. The directory decides which principal may have one and who may
 * change it. A stored hash never leaves this file.
 */

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock, Ids } from '#kernel/ports.ts'
import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import type { Passwords } from './passwords.ts'
import { hasControl } from './principal-rules.ts'

/** A secret as the directory shows it: never its value. */
export interface SecretRecord {
  readonly id: string
  readonly displayName: string
  readonly createdAt: number
  readonly expiresAt: number | undefined
}

/** The secret by which somebody proved who they are. */
export type SecretUsed = Pick<SecretRecord, 'id' | 'expiresAt'>

export interface Credentials {
  /** Replaces the principal's password with the one of this hash. */
  storePassword(tx: SqlTx, principalId: string, hash: string): Promise<void>
  freshSecret(displayName: string, expiresAt: number | undefined): SecretRecord
  storeSecret(tx: SqlTx, principalId: string, value: string, secret: SecretRecord): Promise<void>
  secretsOf(from: Pick<Sql, 'all'>, principalId: string): Promise<readonly SecretRecord[]>
  /** The unexpired secret of this principal that matches. */
  findSecret(principalId: string, secret: string): Promise<SecretUsed | undefined>
  /** The enabled user with this name and password. The check takes the same time whatever is wrong. */
  findPassword(
    signInName: string,
    password: string,
  ): Promise<{ readonly principalId: string; readonly credentialId: string } | undefined>
}

export function openCredentials(options: {
  readonly sql: Sql
  readonly clock: Clock
  readonly ids: Ids
  readonly passwords: Passwords
}): Credentials {
  const { sql, clock, ids, passwords } = options

  return {
    async storePassword(tx, principalId, hash) {
      await tx.run(
        "delete from identity_credentials where principal_id = ? and kind = 'password'",
        principalId,
      )
      await tx.run(
        `insert into identity_credentials
          (id, principal_id, kind, hash, display_name, created_at, expires_at)
          values (?, ?, 'password', ?, '', ?, null)`,
        ids.uuid(),
        principalId,
        hash,
        clock.now(),
      )
    },

    freshSecret: (displayName, expiresAt) => ({
      id: ids.uuid(),
      displayName,
      createdAt: clock.now(),
      expiresAt,
    }),

    async storeSecret(tx, principalId, value, secret) {
      await tx.run(
        `insert into identity_credentials
          (id, principal_id, kind, hash, display_name, created_at, expires_at)
          values (?, ?, 'secret', ?, ?, ?, ?)`,
        secret.id,
        principalId,
        hashSecret(value),
        secret.displayName,
        secret.createdAt,
        secret.expiresAt ?? null,
      )
    },

    async secretsOf(from, principalId) {
      const rows = await from.all(
        `select id, display_name, created_at, expires_at from identity_credentials
          where principal_id = ? and kind = 'secret' order by created_at, id`,
        principalId,
      )
      return rows.map((row) => ({
        id: String(row['id']),
        displayName: String(row['display_name']),
        createdAt: Number(row['created_at']),
        expiresAt: expiryIn(row),
      }))
    },

    async findSecret(principalId, secret) {
      const rows = await sql.all(
        `select id, hash, expires_at from identity_credentials where principal_id = ? and kind = 'secret'
          and (expires_at is null or expires_at > ?)`,
        principalId,
        clock.now(),
      )
      const given = Buffer.from(hashSecret(secret))
      let found: SqlRow | undefined
      // Every secret is compared, whichever matches, so that the time says nothing.
      for (const row of rows) {
        if (timingSafeEqual(given, Buffer.from(String(row['hash'])))) found = row
      }
      return found && { id: String(found['id']), expiresAt: expiryIn(found) }
    },

    async findPassword(signInName, password) {
      const [row] = await sql.all(
        `select p.id as id, c.id as credential_id, c.hash as hash from identity_principals p
          join identity_credentials c on c.principal_id = p.id and c.kind = 'password'
          where p.sign_in_key = ? and p.enabled = 1`,
        // An impossible name takes the same path as an unknown one.
        hasControl(signInName) ? '' : signInKeyOf(signInName),
      )
      const hash = row === undefined ? undefined : String(row['hash'])
      const right = await passwords.verify(password, hash)
      return right && row !== undefined
        ? { principalId: String(row['id']), credentialId: String(row['credential_id']) }
        : undefined
    },
  }
}

function expiryIn({ expires_at: at }: SqlRow): number | undefined {
  return at === null ? undefined : Number(at)
}

/** The form in which two sign-in names are compared. */
export function signInKeyOf(signInName: string): string {
  return signInName.normalize('NFKC').toLowerCase()
}

/** Secrets are 32 random bytes, which nobody guesses. A slow hash would only slow the token endpoint. */
function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}
