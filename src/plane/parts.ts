/** What the verbs work with: the parts of a plane, given once by `create-plane.ts`, and small things made of them. */

import type { Limits } from '#kernel/limits.ts'
import type { Clock, Ids, Log } from '#kernel/ports.ts'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Reads, ResourceRow, Store, Tx } from '#stores/store.ts'
import { type Access, allowsBlind } from './access.ts'
import type { Checker } from './check.ts'
import type { Context, Reader } from './define.ts'
import { readRow } from './document.ts'
import type { Guard } from './guard.ts'
import type { RunInput } from './plane.ts'
import type { Registry } from './registry.ts'

export interface Parts {
  readonly registry: Registry
  readonly store: Store
  readonly access: Access
  readonly checker: Checker
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly limits: Limits
  /** Signs continuation tokens; 32 bytes of the installation. */
  readonly tokenKey: Uint8Array
  /** `implicit`: a write brings missing subscriptions and groups into being (issue: scopes nobody declared). */
  readonly scopes: 'implicit' | 'declared'
  readonly guards: readonly Guard[]
  /** Answers made of rows that a store hands out again and again: reading one twice costs once. */
  readonly answers: WeakMap<ResourceRow, ShownRow>
  /** Something was scheduled: look soon. */
  wake(): void
  /** The background work on this resource came to an end in this process. A hint for who waits for it. */
  settled(key: string): void
}

/** A row as shown in one version. */
export interface ShownRow {
  readonly version: string
  readonly body: object
}

/** Reads as providers see them: resources, not rows. */
export function createReader(registry: Registry, reads: Reads | Tx): Reader {
  const keyOf = (id: ResourceId | string): string =>
    typeof id === 'string' ? id.toLowerCase() : id.key
  const decode = (row: ResourceRow): ReturnType<typeof readRow> => readRow(row)
  return {
    async get(id) {
      // Inside a write, what rules have read stays as read until the write is done.
      const row = await ('lock' in reads ? reads.lock(keyOf(id), 'share') : reads.get(keyOf(id)))
      return row === undefined ? undefined : decode(row)
    },
    async list({ type, under, after, limit }) {
      const rows = await reads.list({
        type: registry.byName(type).key,
        under: keyOf(under),
        ...(after === undefined ? {} : { after: after.toLowerCase() }),
        limit,
      })
      return rows.map(decode)
    },
    count: ({ type, under, limit }) =>
      reads.count({ type: registry.byName(type).key, under: keyOf(under), limit }),
  }
}

/** The context every part of a type is given, over committed reads or a transaction's. */
export function contextOf(
  parts: Parts,
  input: Pick<RunInput, 'principal' | 'correlationId'>,
  now: number,
  reads: Reads,
): Context {
  return {
    principal: input.principal,
    now,
    words: parts.registry.words,
    correlationId: input.correlationId,
    reader: createReader(parts.registry, reads),
    may: (action, scope) =>
      allowsBlind(
        parts.access,
        {
          principal: input.principal,
          action: qualify(parts.registry.words, action),
          scope,
        },
        now,
      ),
  }
}

/** The id of a key we made ourselves. */
export function idOfKey(key: string): ResourceId {
  const id = parseResourceId(key)
  if (id === undefined) throw new Error(`not an id: ${key}`)
  return id
}
