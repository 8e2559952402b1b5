/** Which applications a user allowed what; outlives sessions, ends with the user or the application. */

import type { Clock } from '#kernel/ports.ts'
import type { Sql } from '#stores/store.ts'

export interface Consents {
  /** The scopes the user has allowed the client so far. */
  granted(principalId: string, clientId: string): Promise<ReadonlySet<string>>
  /** Adds to them. */
  grant(principalId: string, clientId: string, scopes: Iterable<string>): Promise<void>
}

export function openConsents(sql: Sql, clock: Clock): Consents {
  async function read(
    from: Pick<Sql, 'all'>,
    principalId: string,
    clientId: string,
  ): Promise<Set<string>> {
    const [row] = await from.all(
      'select scope from identity_consents where principal_id = ? and client_id = ?',
      principalId,
      clientId,
    )
    return new Set(row === undefined ? [] : String(row['scope']).split(' '))
  }

  return {
    granted: (principalId, clientId) => read(sql, principalId, clientId),
    async grant(principalId, clientId, scopes) {
      await sql.transact(async (tx) => {
        const all = await read(tx, principalId, clientId)
        for (const scope of scopes) all.add(scope)
        await tx.run(
          `insert into identity_consents (principal_id, client_id, scope, granted_at)
            values (?, ?, ?, ?) on conflict (principal_id, client_id)
            do update set scope = excluded.scope, granted_at = excluded.granted_at`,
          principalId,
          clientId,
          [...all].join(' '),
          clock.now(),
        )
      })
    },
  }
}
