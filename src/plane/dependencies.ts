/** What the verbs work with: the parts of a plane, made once by `create-plane.ts`, and small functions over them. */

import type { Limits } from '#kernel/limits.ts'
import type { Clock, HeapWatch, Ids, Log, Timers } from '#kernel/ports.ts'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import { callOwner } from '#stores/awaited.ts'
import { isCut } from '#stores/list-budget.ts'
import type { ListQuery, Reads, ResourceRow, Store, Tx } from '#stores/store.ts'
import { type Access, allowsWithoutAttributes, isAboveOne, requestedOf } from './access.ts'
import { roomForLarge, roomForRows } from './behalf-of.ts'
import type { Context, InsideContext, Reader } from './declare/resource.ts'
import { readRow } from './document.ts'
import type { Guard } from './guard.ts'
import { freeTurn, largeDocument, nextTurn } from './next-turn.ts'
import type { RunInput } from './plane.ts'
import type { Registry } from './registry.ts'

export interface PlaneDependencies {
  readonly registry: Registry
  readonly store: Store
  readonly access: Access
  readonly clock: Clock
  readonly timers: Timers
  readonly ids: Ids
  readonly log: Log
  readonly limits: Limits
  /** Keys of continuation tokens, 32 bytes each. The first signs; all are accepted. */
  readonly tokenKeys: () => readonly Uint8Array[]
  /** `implicit`: a write creates missing subscriptions and groups (decision 0002). */
  readonly scopes: 'implicit' | 'declared'
  readonly guards: readonly Guard[]
  /** Answers built from rows. A store returns the same row object again and again, so each row is converted once. */
  readonly wireCache: WeakMap<ResourceRow, WireRow>
  readonly faults?: BackgroundFaults
  /** Nothing new is begun while it is nearly full. */
  readonly heap?: Pick<HeapWatch, 'isFull'>
  /** Called when something was scheduled: the reconciler looks soon. */
  wake(): void
  /** Called when the background work on this resource ended in this process. A call may be missed. */
  settled(key: string): void
}

/** Faults that are injected into background work. */
export interface BackgroundFaults {
  ofStep(key: string, type: string): 'fail' | 'hang' | undefined
  /** True when the engine is to lose what it runs for this resource now. */
  ofEngine(key: string, type: string): boolean
  /** Calls back with the key of each resource whose engine is to lose something. */
  onLoss(callback: (key: string) => void): void
}

/** A row as shown in one version: as an object, as JSON text, or as both. */
export interface WireRow {
  readonly version: string
  readonly body?: object
  readonly text?: string
}

/** More transactions than all processes together have connections to the store. */
const atOnceMax = 1000

/** Rows of one chunk of a longer list. */
const rowsAtOnce = 500

/** Reads as providers see them: resources, not rows. */
export function createReader(
  deps: Pick<PlaneDependencies, 'registry' | 'limits'>,
  reads: Reads | Tx | Store,
): Reader {
  return new ResourceReader(deps, reads)
}

/**
 * A list that may have large rows, each of which takes milliseconds to parse, or many: others have their turn before that. Who
 * has to wait for room to work on them keeps none meanwhile.
 */
export async function listWithRoom(
  reads: Reads | Tx,
  query: ListQuery,
): Promise<readonly ResourceRow[]> {
  let rows = await reads.list(query)
  // Whoever is in a transaction waits for nothing else.
  if ('lock' in reads) return rows
  const isSlow = rows.some(({ document }) => document.length > largeDocument)
  const turn = isSlow ? freeTurn(callOwner()) : undefined
  if (turn !== undefined) await turn
  const room = roomForRows(rows.reduce((sum, { document }) => sum + document.length, 0))
  if (room === undefined) return rows
  rows = []
  await room
  return reads.list(query)
}

/** Whether the very row is known to be large. */
export function isKnownLarge(store: Pick<Store, 'largeAt'>, key: string): boolean {
  const characters = store.largeAt(key)
  return characters > 0 && characters > store.largeAt(key.slice(0, key.lastIndexOf('/')))
}

function keyOf(id: ResourceId | string): string {
  return typeof id === 'string' ? id.toLowerCase() : id.key
}

/** Each write has one or two of its own, so it is no object of functions. */
class ResourceReader implements Reader {
  readonly #deps: Pick<PlaneDependencies, 'registry' | 'limits'>
  readonly #reads: Reads | Tx | Store

  constructor(deps: Pick<PlaneDependencies, 'registry' | 'limits'>, reads: Reads | Tx | Store) {
    this.#deps = deps
    this.#reads = reads
  }

  async get(id: ResourceId | string): ReturnType<Reader['get']> {
    const reads = this.#reads
    // Inside a write, rows that rules have read must not change until the write is done.
    if ('lock' in reads) return readOne(await reads.lock(keyOf(id), 'share'))
    const key = keyOf(id)
    if ('largeAt' in reads && isKnownLarge(reads, key)) await roomForLarge()
    const row = await reads.get(key)
    if (row === undefined) return undefined
    const { length } = row.document
    const room = roomForRows(length)
    if (room !== undefined) await room
    if (length > largeDocument) await freeTurn()
    return readOne(row)
  }

  async list(query: Parameters<Reader['list']>[0]): ReturnType<Reader['list']> {
    const all: ReturnType<typeof readRow>[] = []
    for await (const rows of this.#pagesOf(query)) for (const row of rows) all.push(readRow(row))
    return all
  }

  async *each(query: Parameters<Reader['each']>[0]): AsyncGenerator<ReturnType<typeof readRow>> {
    for await (const rows of this.#pagesOf(query)) for (const row of rows) yield readRow(row)
  }

  async page({
    type,
    under,
    after,
    limit,
  }: Parameters<Reader['page']>[0]): ReturnType<Reader['page']> {
    const query = {
      type: this.#typeKey(type),
      under: keyOf(under),
      ...(after === undefined ? {} : { after: after.toLowerCase() }),
      limit,
      bytesMax: this.#deps.limits.pageBytesMax,
    }
    const rows = await listWithRoom(this.#reads, query)
    const last = rows.at(-1)
    const items = rows.map((row) => readRow(row))
    if (last === undefined || !isCut(rows, query)) return { items }
    return { items, next: last.key, ...(rows.length < limit ? { isShort: true } : {}) }
  }

  async byUniqueKey(
    query: Parameters<Reader['byUniqueKey']>[0],
  ): ReturnType<Reader['byUniqueKey']> {
    return (await this.#reads.listUnique(query)).map(({ uniqueKey, key }) => ({
      uniqueKey,
      id: idOfKey(key),
    }))
  }

  count({ type, under, limit }: Parameters<Reader['count']>[0]): Promise<number> {
    return this.#reads.count({ type: this.#typeKey(type), under: keyOf(under), limit })
  }

  async feedPosition(feed: string): Promise<number | undefined> {
    return 'lock' in this.#reads ? this.#reads.position(feed) : undefined
  }

  async hasRoom(query: Parameters<Reader['hasRoom']>[0]): Promise<boolean> {
    const reads = this.#reads
    const { type, under, limit } = query
    // Those at work at once cannot pass a limit that is farther away than they are many.
    const far = limit - atOnceMax
    if (far > 0 && (await this.count({ ...query, limit: far })) < far) return true
    // Sent together: the number is read when the transaction is alone.
    const alone = 'lock' in reads ? reads.alone(`room ${type} ${keyOf(under)}`) : undefined
    const [found] = await Promise.all([this.count(query), alone])
    return found < limit
  }

  #typeKey(type: string): string {
    return this.#deps.registry.byName(type).key
  }

  async *#pagesOf({
    type,
    under,
    after: first,
    limit = Number.POSITIVE_INFINITY,
  }: Parameters<Reader['each']>[0]): AsyncGenerator<readonly ResourceRow[]> {
    const reads = this.#reads
    let after = first?.toLowerCase()
    for (let left = limit; ; ) {
      const query = {
        type: this.#typeKey(type),
        under: keyOf(under),
        ...(after === undefined ? {} : { after }),
        limit: Math.min(left, rowsAtOnce),
        bytesMax: this.#deps.limits.pageBytesMax,
      }
      const rows = await listWithRoom(reads, query)
      yield rows
      left -= rows.length
      after = rows.at(-1)?.key
      if (after === undefined || left <= 0 || !isCut(rows, query)) return
      // A transaction must not wait for anything but its store.
      if (!('lock' in reads)) await nextTurn()
    }
  }
}

function readOne(row: ResourceRow | undefined): ReturnType<typeof readRow> | undefined {
  return row === undefined ? undefined : readRow(row)
}

/** The name of a type that no provider serves. */
const namespaced = /^[^/]*\./

type RequestOrigin = Pick<RunInput, 'principal' | 'correlationId' | 'signal'>

/** The context of code inside a transaction. */
export function insideContextOf(
  deps: PlaneDependencies,
  { principal, correlationId, signal }: RequestOrigin,
  now: number,
  reads: Reads,
): InsideContext {
  return {
    principal,
    now,
    words: deps.registry.words,
    correlationId,
    ...(signal === undefined ? {} : { signal }),
    reader: createReader(deps, reads),
  }
}

/** The context of code outside transactions. It may read the rows of a dry run. */
export function contextOf(
  deps: PlaneDependencies,
  input: RequestOrigin,
  now: number,
  reads: Reads,
): Context {
  let scopes: Promise<readonly string[]> | undefined
  return {
    ...insideContextOf(deps, input, now, reads),
    may(action, scope) {
      const { principal } = input
      const asked =
        typeof action === 'string' && namespaced.test(action)
          ? { action }
          : requestedOf(deps.registry.words, action)
      const decide = () => allowsWithoutAttributes(deps.access, { principal, ...asked, scope }, now)
      // One decision may take milliseconds, and a request may need thousands.
      const turn = freeTurn(principal.id)
      return turn === undefined ? decide() : turn.then(decide)
    },
    async hasRoleBelow(scope) {
      // Asked once for all rows of a list.
      scopes ??= deps.access.scopesOf?.(input.principal)
      return isAboveOne(scope, await scopes)
    },
  }
}

/** The id of a key that was made here. */
export function idOfKey(key: string): ResourceId {
  const id = parseResourceId(key)
  if (id === undefined) throw new Error(`not an id: ${key}`)
  return id
}
