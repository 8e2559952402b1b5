/**
 * What goes along with a DELETE (`DeletedAlong` of a type). Nothing bounds how many there are, so they are found and looked at
 * outside of transactions, all of them before the first goes: a refusal leaves everything. Each transaction removes some, and
 * looks at these again. It decides nothing about the resource itself.
 */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Reads, Tx } from '#stores/store.ts'
import type { Prohibitions } from '../access.ts'
import { initiatorOf } from '../audit.ts'
import type { CompiledStoredType } from '../compiled-type.ts'
import type { DeletedAlong, DeleteRuleContext, DeletionContext } from '../declare/stored.ts'
import { insideContextOf, type PlaneDependencies } from '../dependencies.ts'
import { readRow } from '../document.ts'
import { askGuards } from '../guard.ts'
import type { WriteRoute } from '../locate.ts'
import { freeTurn } from '../next-turn.ts'
import type { RunInput } from '../plane.ts'
import {
  onReconciled,
  removalCharactersMax,
  removalsMax,
  removeBelow,
  removeRecorded,
  requireNothingForbidden,
} from './remove-below.ts'

export interface DeleteRequest {
  readonly deps: PlaneDependencies
  readonly route: WriteRoute
  readonly input: RunInput
}

/**
 * What the request was for is still there: there is `more` than one transaction removes, or `others` go along, which were
 * not looked at yet, or what is `below` was not.
 */
export type Unfinished = 'more' | 'others' | 'below'

/** Found for one transaction. */
const foundMax = 100

export class GoesAlong {
  readonly #request: DeleteRequest
  readonly #type: DeletedAlong<unknown> | undefined
  /** Goes on where the last transaction ended. Undefined at first, and where all must be looked at anew. */
  #found: AsyncIterator<ResourceId> | undefined
  #next: ResourceId[] = []
  /** So many of `#next` the last transaction has dealt with. It may have run more than once, so it takes nothing away itself. */
  #done = 0
  #mayGo = false

  constructor(request: DeleteRequest) {
    this.#request = request
    this.#type = request.route.compiled.stored.deletedAlong
  }

  /** Before a transaction. */
  async prepare(): Promise<void> {
    if (this.#type === undefined) return
    this.#next.splice(0, this.#done)
    this.#done = 0
    this.#found ??= this.#type.find(this.context())[Symbol.asyncIterator]()
    while (this.#next.length < foundMax) {
      const { done, value } = await this.#found.next()
      if (done === true) return
      this.#next.push(value)
    }
  }

  /** Looks at all of them, and refuses where one must stay. */
  async look(): Promise<void> {
    const { deps, input } = this.#request
    const { store, registry, access } = deps
    const { principal, signal } = input
    const prohibitions = await access.prohibitionsFor?.(principal)
    const context = this.context()
    for await (const { key } of this.#type?.find(context) ?? []) {
      await freeTurn(principal.id)
      signal?.throwIfAborted()
      const row = await store.get(key)
      const compiled = row && registry.byKey(row.type)
      if (row === undefined || compiled === undefined) continue
      const { id } = readRow(row)
      await requireMayGo(deps, store, { id, compiled, principal, prohibitions, context })
    }
    this.#mayGo = true
    this.#found = undefined
    this.#next = []
    this.#done = 0
  }

  /** For what is found outside of transactions. */
  context(): DeletionContext {
    const { deps, route, input } = this.#request
    const inside = insideContextOf(deps, input, deps.clock.now(), deps.store)
    return { ...inside, id: route.id, query: input.query }
  }

  /** Undefined where nothing goes along any more. */
  async remove(
    tx: Tx,
    context: DeleteRuleContext<unknown>,
    prohibitions: Prohibitions | undefined,
  ): Promise<Unfinished | undefined> {
    const type = this.#type
    const { deps, input } = this.#request
    if (type === undefined) return undefined
    if (this.#next.length === 0) {
      return (await type.isAnyLeft?.(context)) === true ? 'others' : undefined
    }
    type.rules?.(context)
    if (!this.#mayGo) return 'others'
    const { principal } = input
    const initiator = initiatorOf(input)
    let left = removalsMax
    let done = 0
    for (const { key } of this.#next) {
      if (left <= 0) break
      done++
      const row = await tx.lock(key, 'change')
      const compiled = row && deps.registry.byKey(row.type)
      if (row === undefined || compiled === undefined) continue
      const found = readRow(row)
      if (!type.isOne(context, found)) continue
      await requireMayGo(deps, tx, { id: found.id, compiled, principal, prohibitions, context })
      const { removed, remaining } = await removeBelow(deps, tx, {
        id: found.id,
        initiator,
        onReconciled,
        charactersMax: removalCharactersMax,
      })
      if (remaining > 0) {
        done--
        break
      }
      // To look at it takes as much as to remove it.
      left -= removed + 2
      await removeRecorded(deps, tx, compiled, { row, initiator })
    }
    this.#done = done
    return 'more'
  }
}

interface GoingAlong {
  readonly id: ResourceId
  readonly compiled: CompiledStoredType
  readonly principal: Principal
  readonly prohibitions: Prohibitions | undefined
  readonly context: DeletionContext
}

async function requireMayGo(
  deps: PlaneDependencies,
  reads: Reads,
  { id, compiled, principal, prohibitions, context }: GoingAlong,
): Promise<void> {
  const { words, reader } = context
  const { type } = compiled.stored
  await askGuards(deps.guards, { id, type, effect: 'delete', words, reader })
  await requireNothingForbidden(deps, reads, { id, principal, prohibitions })
}
