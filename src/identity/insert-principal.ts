/** Inserts a principal into the directory's table and writes to the feed. */

import type { SqlTx } from '#stores/store.ts'
import { signInKeyOf } from './credentials.ts'
import { directoryFeed } from './feed-watch.ts'
import type { PrincipalRecord } from './principal-record.ts'

/** Returns false when one of its unique names is taken. */
export async function insertPrincipal(tx: SqlTx, principal: PrincipalRecord): Promise<boolean> {
  const rows = await tx.run(
    `insert into identity_principals
      (id, type, display_name, sign_in_name, sign_in_key, client_id, redirect_uris, enabled, created_at, generation,
        public_client)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    principal.id,
    principal.type,
    principal.displayName,
    principal.signInName ?? null,
    principal.signInName === undefined ? null : signInKeyOf(principal.signInName),
    principal.clientId ?? null,
    JSON.stringify(principal.redirectUris),
    principal.enabled ? 1 : 0,
    principal.createdAt,
    principal.generation,
    principal.publicClient ? 1 : 0,
  )
  await tx.follow(directoryFeed, principal.id)
  return rows === 1
}
