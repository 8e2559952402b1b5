/**
 * What several writes of one caller find alike in one transaction, or in one dry run: what is above siblings, and that no
 * guard can refuse anything. It is looked at once, and again when a write of theirs may have changed it. Others cannot: what
 * is above is locked until the transaction ends. It refuses nothing itself.
 */

import type { Initiator } from '#activity/record.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { parentOf } from '#kernel/resource-id.ts'
import type { Tx } from '#stores/store.ts'
import { initiatorOf } from '../audit.ts'
import type { InsideContext } from '../declare/resource.ts'
import { insideContextOf, type PlaneDependencies } from '../dependencies.ts'
import type { StoredResource } from '../document.ts'
import type { RunInput } from '../plane.ts'

/** What was found above a resource: it exists, and allows writes. */
export interface Above {
  /** The innermost scope. */
  readonly scope: StoredResource | undefined
}

/** Parents that are remembered; all are forgotten beyond. */
const parentsMax = 32

export class SharedChecks {
  readonly now: number
  readonly initiator: Initiator
  readonly context: InsideContext
  readonly mayCreateScopes: boolean
  readonly #guardTypes: readonly (string | undefined)[]
  /** By the parent. A child and what hangs on the same resource ask different things of it. */
  readonly #aboveNested = new Map<string, Above>()
  readonly #aboveOthers = new Map<string, Above>()
  #isUnguarded: boolean | undefined

  constructor(
    deps: PlaneDependencies,
    input: Pick<RunInput, 'principal' | 'correlationId'>,
    tx: Tx,
    mayCreateScopes: boolean,
  ) {
    this.now = deps.clock.now()
    this.initiator = initiatorOf(input)
    this.context = insideContextOf(deps, input, this.now, tx)
    this.mayCreateScopes = mayCreateScopes
    this.#guardTypes = deps.guards.map(({ idleWithout }) =>
      idleWithout === undefined ? undefined : deps.registry.byName(idleWithout).key,
    )
  }

  /** Undefined where it must be looked at. */
  above(id: ResourceId): Above | undefined {
    return this.#siblings(id).get(parentOf(id).key)
  }

  noteAbove(id: ResourceId, scope: StoredResource | undefined): Above {
    const found = { scope }
    const siblings = this.#siblings(id)
    if (siblings.size >= parentsMax) siblings.clear()
    siblings.set(parentOf(id).key, found)
    return found
  }

  /** True where no guard can refuse anything; undefined where it must be looked at. */
  get isUnguarded(): boolean | undefined {
    return this.#isUnguarded
  }

  /**
   * In a transaction that is called behind the locks of all resources whose guards are not asked because of it: a guard that
   * was made before such a lock must be seen.
   */
  async lookForGuards(tx: Tx): Promise<void> {
    let isUnguarded = true
    for (const type of this.#guardTypes) {
      const isIdle = type !== undefined && (await tx.count({ type, under: '/', limit: 1 })) === 0
      isUnguarded &&= isIdle
    }
    this.#isUnguarded = isUnguarded
  }

  /** To be called after each row that is written. */
  wrote(key: string, type: string): void {
    if (this.#isUnguarded === true && this.#guardTypes.includes(type)) {
      this.#isUnguarded = undefined
    }
    forgetBelow(this.#aboveNested, key)
    forgetBelow(this.#aboveOthers, key)
  }

  /** What was written is taken back. */
  forget(): void {
    this.#isUnguarded = undefined
    this.#aboveNested.clear()
    this.#aboveOthers.clear()
  }

  #siblings({ segments }: ResourceId): Map<string, Above> {
    const isNested = (segments.at(-1)?.types.length ?? 0) > 1
    return isNested ? this.#aboveNested : this.#aboveOthers
  }
}

/** Forgets the parents that are this resource, or below it. */
function forgetBelow(parents: Map<string, Above>, key: string): void {
  if (parents.size === 0) return
  for (const parent of parents.keys()) {
    const isBelow =
      parent.startsWith(key) && (parent.length === key.length || parent[key.length] === '/')
    if (isBelow) parents.delete(parent)
  }
}
