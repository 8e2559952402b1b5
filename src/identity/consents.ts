/**
 * Records which scopes a user allowed each application. A consent outlives sessions and ends with the user or the
 * application.
 */

import type { Clock } from '#kernel/ports.ts'
import type { RequestOrigin } from '#kernel/request-origin.ts'
import type { Sql } from '#stores/store.ts'
import type { DirectorySql } from './directory-sql.ts'
import { personScopes, resourceScope } from './rewrite.ts'

export interface Consents {
  /** The scopes the user has allowed the client so far. */
  granted(principalId: string, clientId: string): Promise<ReadonlySet<string>>
  /** Adds these scopes to the ones allowed before. */
  grant(consent: Consent): Promise<void>
}

interface Consent {
  readonly principalId: string
  readonly clientId: string
  readonly scopes: Iterable<string>
  readonly origin: RequestOrigin
}

/** The scopes in a text. Whatever else stands there is anybody's, and is neither shown nor kept. */
export function scopesIn(text: string): readonly string[] {
  return text.split(' ').filter((word) => [...personScopes, resourceScope].includes(word))
}

export function openConsents(sql: DirectorySql, clock: Clock): Consents {
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
    return new Set(scopesIn(String(row?.['scope'] ?? '')))
  }

  return {
    granted: (principalId, clientId) => read(sql, principalId, clientId),
    async grant({ principalId, clientId, scopes, origin }) {
      await sql.transact(async (tx) => {
        const before = await read(tx, principalId, clientId)
        const all = new Set([...before, ...scopes])
        tx.describe({
          action: 'Directory/users/consents/write',
          target: `/directory/users/${principalId}/consents/${clientId}`,
          initiator: {
            principal: { id: principalId, clientId },
            correlationId: '',
            from: { ...origin, method: 'POST' },
          },
          before: { scope: [...before].join(' ') },
          after: { scope: [...all].join(' ') },
        })
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
