/** A principal as the directory stores it, and how a row becomes one. It holds no credential. */

import type { PrincipalAttributes } from '#kernel/principal.ts'
import type { SqlRow } from '#stores/store.ts'

export type LocalType = 'User' | 'Group' | 'ServicePrincipal'

export interface PrincipalRecord {
  /** Object id, a UUID in lower case. */
  readonly id: string
  readonly type: LocalType
  readonly displayName: string
  /** Only users have one. Stored as given, compared without regard to case. */
  readonly signInName: string | undefined
  /** Only service principals have one. A UUID in lower case. */
  readonly clientId: string | undefined
  /** The addresses to which browsers may be sent after a sign-in to this service principal. Compared exactly. */
  readonly redirectUris: readonly string[]
  /** An application that cannot keep a secret. People sign in to it by device code, or a code with PKCE. */
  readonly publicClient: boolean
  /** A disabled principal can neither sign in nor use a token it still has. */
  readonly enabled: boolean
  /** Custom attributes, for conditions on the caller. */
  readonly attributes: PrincipalAttributes
  readonly createdAt: number
  /** Tokens name the generation. A token of another generation was revoked. */
  readonly generation: number
}

export const principalColumns =
  'id, type, display_name, sign_in_name, client_id, redirect_uris, enabled, attributes, created_at, generation, public_client'

export function toPrincipalRecord(row: SqlRow): PrincipalRecord {
  return {
    id: String(row['id']),
    // Only these three values are ever written; see insert-principal.ts.
    type: String(row['type']) as LocalType,
    displayName: String(row['display_name']),
    signInName: row['sign_in_name'] === null ? undefined : String(row['sign_in_name']),
    clientId: row['client_id'] === null ? undefined : String(row['client_id']),
    // Only JSON.stringify of a list of strings writes this.
    redirectUris: JSON.parse(String(row['redirect_uris'])) as string[],
    enabled: Number(row['enabled']) === 1,
    // Only JSON.stringify of checked attributes writes this.
    attributes: (row['attributes'] === null
      ? {}
      : JSON.parse(String(row['attributes']))) as PrincipalAttributes,
    createdAt: Number(row['created_at']),
    generation: Number(row['generation']),
    publicClient: Number(row['public_client']) === 1,
  }
}
