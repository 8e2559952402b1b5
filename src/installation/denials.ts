/**
 * Requests that were refused for want of a permission, kept for a while so that the reason can be looked up.
 * Bounded by making: a refusal has one of a fixed number of places, by its correlation id, and a later one
 * takes the place of an earlier one. What happens too fast to be written is not kept; nobody waits for it.
 */

import type { Clock, Log } from '#kernel/ports.ts'
import type { Migration, Sql } from '#stores/store.ts'

interface Denial {
  readonly at: number
  readonly correlationId: string
  readonly principalId: string
  readonly action: string
  readonly scope: string
  /** What the body asked for, by attribute, where a condition was about it. */
  readonly request?: Readonly<Record<string, unknown>>
}

export interface Denials extends AsyncDisposable {
  /** Keeps it in the background; never throws, and never holds up the refusal. */
  note(denial: Omit<Denial, 'at'>): void
  /** The latest refusal with that correlation id, while it is kept. Any replica answers. */
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

/** Refusals kept, and written at once by one process. */
const places = 4096
const writesAtOnceMax = 4
/** Characters of what a body asked for; more is left out. */
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
      const work = write({ at: clock.now(), ...denial })
        .catch((error: unknown) => {
          // The refusal stands without it; only its explanation is lost.
          log.warn({ err: error }, 'a refusal could not be kept')
        })
        .finally(() => writing.delete(work))
      writing.add(work)
    },
    async find(correlationId) {
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
        // Written by JSON.stringify of a record, and by nothing else.
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

/** FNV-1a: spreads ids over the places, and is the same in every process. */
function placeOf(correlationId: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < correlationId.length; at++) {
    hash = Math.imul(hash ^ correlationId.charCodeAt(at), 0x01000193)
  }
  return (hash >>> 0) % places
}
