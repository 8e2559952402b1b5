/** A principal as the directory keeps it, and how it is read from a row. Holds no credential. */

import type { PrincipalAttributes } from '#kernel/principal.ts'
import type { SqlRow } from '#stores/store.ts'

export type LocalType = 'User' | 'Group' | 'ServicePrincipal'

export interface PrincipalRecord {
  /** Object id, a UUID in lower case. */
  readonly id: string
  readonly type: LocalType
  readonly displayName: string
  /** Users only; as given, compared without regard to case. */
  readonly signInName: string | undefined
  /** Service principals only; a UUID in lower case. */
  readonly clientId: string | undefined
  /** Where browsers may be sent after a sign-in to this service principal; compared exactly. */
  readonly redirectUris: readonly string[]
  /** An application that can keep no secret; people sign in to it by device code, or a code with PKCE. */
  readonly publicClient: boolean
  /** A disabled principal can neither sign in nor act with a token it still has. */
  readonly enabled: boolean
  /** Custom attributes, for conditions on who asks. */
  readonly attributes: PrincipalAttributes
  readonly createdAt: number
  /** Tokens name it; those of another one were revoked. */
  readonly generation: number
}

export const principalColumns =
  'id, type, display_name, sign_in_name, client_id, redirect_uris, enabled, attributes, created_at, generation, public_client'

export function toPrincipalRecord(row: SqlRow): PrincipalRecord {
  return {
    id: String(row['id']),
    // Only these three are ever written; see insert-principal.ts.
    type: String(row['type']) as LocalType,
    displayName: String(row['display_name']),
    signInName: row['sign_in_name'] === null ? undefined : String(row['sign_in_name']),
    clientId: row['client_id'] === null ? undefined : String(row['client_id']),
    // Written by JSON.stringify of a list of strings, and by nothing else.
    redirectUris: JSON.parse(String(row['redirect_uris'])) as string[],
    enabled: Number(row['enabled']) === 1,
    // Written by JSON.stringify of checked attributes, and by nothing else.
    attributes: (row['attributes'] === null
      ? {}
      : JSON.parse(String(row['attributes']))) as PrincipalAttributes,
    createdAt: Number(row['created_at']),
    generation: Number(row['generation']),
    publicClient: Number(row['public_client']) === 1,
  }
}
