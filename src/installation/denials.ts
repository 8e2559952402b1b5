/**
 * Keeps refusals for a missing permission for a while, so that the reason can be looked up. Their number is
 * bounded: each refusal goes to one of a fixed number of places, chosen by its correlation id, and replaces the one
 * before it. Refusals that come too fast to be written are dropped; nobody waits for them.
 */

import type { Clock, Log } from '#kernel/ports.ts'
import { forEverybody } from '#stores/awaited.ts'
import type { Migration, Sql } from '#stores/store.ts'

interface Denial {
  readonly at: number
  readonly correlationId: string
  readonly principalId: string
  readonly action: string
  readonly scope: string
  /** The attributes of the body that a condition asked about. */
  readonly request?: Readonly<Record<string, unknown>>
}

export interface Denials extends AsyncDisposable {
  /** Stores the refusal in the background. It never throws and never delays the answer. */
  note(denial: Omit<Denial, 'at'>): void
  /**
   * The latest refusal with that correlation id, as long as it is kept. Every replica answers; this process waits for what it
   * is writing.
   */
  find(correlationId: string): Promise<Denial | undefined>
}

const tables: readonly string[] = [
  `create table installation_denials (
    place bigint primary key,
    at bigint not null,
    correlation_id text not null,
    principal_id text not null,
    action text not null,
    scope text not null,
    request text
  )`,
]

export const denialMigration: Migration = {
  area: 'installation',
  number: 2,
  sqlite: tables,
  postgres: tables,
}

/** The number of refusals that are kept, and that one process writes at once. */
const places = 4096
const writesAtOnceMax = 4
/** The longest stored part of a body, in characters. The rest is left out. */
const requestLengthMax = 8192

export function openDenials(sql: Sql, clock: Clock, log: Log): Denials {
  const writing = new Set<Promise<void>>()

  async function write(denial: Denial): Promise<void> {
    const { at, correlationId, principalId, action, scope, request } = denial
    const text = request === undefined ? null : JSON.stringify(request)
    await sql.transact(async (tx) => {
      await tx.run(
        `insert into installation_denials (place, at, correlation_id, principal_id, action, scope, request)
          values (?, ?, ?, ?, ?, ?, ?)
          on conflict (place) do update set at = excluded.at, correlation_id = excluded.correlation_id,
            principal_id = excluded.principal_id, action = excluded.action, scope = excluded.scope,
            request = excluded.request`,
        placeOf(correlationId),
        at,
        correlationId,
        principalId,
        action,
        scope,
        text !== null && text.length > requestLengthMax ? null : text,
      )
    })
  }

  return {
    note(denial) {
      if (writing.size >= writesAtOnceMax) return
      const work = forEverybody(() => write({ at: clock.now(), ...denial }))
        .catch((error: unknown) => {
          // The refusal stands; only its explanation is lost.
          log.warn({ err: error }, 'a refusal could not be kept')
        })
        .finally(() => writing.delete(work))
      writing.add(work)
    },
    async find(correlationId) {
      // Whoever was refused a moment ago may ask before the refusal is written.
      await Promise.allSettled(writing)
      const [row] = await sql.all(
        'select * from installation_denials where place = ? and correlation_id = ?',
        placeOf(correlationId),
        correlationId,
      )
      if (row === undefined) return undefined
      return {
        at: Number(row['at']),
        correlationId: String(row['correlation_id']),
        principalId: String(row['principal_id']),
        action: String(row['action']),
        scope: String(row['scope']),
        // Only JSON.stringify of a record writes this.
        ...(row['request'] === null
          ? {}
          : { request: JSON.parse(String(row['request'])) as Record<string, unknown> }),
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(writing)
    },
  }
}

/** FNV-1a: spreads ids over the places and is the same in every process. */
function placeOf(correlationId: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < correlationId.length; at++) {
    hash = Math.imul(hash ^ correlationId.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0) % places
}
