/**
 * Rights that a DELETE needs for what is below: it may hold for resources elsewhere, as the deny settings of a stack do, and
 * ends without anybody else being asked. They are checked before the transaction, and needed as its rows say.
 */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Tx } from '#stores/store.ts'
import { actionOf } from '../access.ts'
import type { RightElsewhere } from '../declare/stored.ts'
import { createReader, type PlaneDependencies } from '../dependencies.ts'
import { authorizationFailed } from '../grant.ts'
import { freeTurn } from '../next-turn.ts'
import { outsideContextOf, rightKey } from './rights-before.ts'

/** The answers, by right. */
export type RightsBelow = ReadonlyMap<string, boolean>

/** Stops at the first that is missing, since one is enough to refuse. */
export async function askRightsBelow(
  deps: PlaneDependencies,
  id: ResourceId,
  principal: Principal,
): Promise<RightsBelow> {
  const answers = new Map<string, boolean>()
  const { may } = outsideContextOf(deps, principal)
  for await (const { action, scope } of rightsBelow(deps, deps.store, id)) {
    const key = rightKey(action, scope)
    if (answers.has(key)) continue
    await freeTurn(principal.id)
    const answer = await may(action, scope)
    answers.set(key, answer)
    if (!answer) break
  }
  return answers
}

/** Throws 403. False where a right was not asked for yet. */
export async function areRightsBelowHeld(
  deps: PlaneDependencies,
  tx: Tx,
  {
    id,
    principal,
    answers,
  }: {
    readonly id: ResourceId
    readonly principal: Principal
    readonly answers: RightsBelow | undefined
  },
): Promise<boolean> {
  for await (const right of rightsBelow(deps, tx, id)) {
    const answer = answers?.get(rightKey(right.action, right.scope))
    if (answer === undefined) return false
    if (answer) continue
    const action = qualify(deps.registry.words, actionOf(right.action))
    throw authorizationFailed({ action, scope: right.scope }, principal)
  }
  return true
}

async function* rightsBelow(
  deps: PlaneDependencies,
  reads: Tx | PlaneDependencies['store'],
  id: ResourceId,
): AsyncGenerator<RightElsewhere> {
  const reader = createReader(deps, reads)
  for (const { stored } of deps.registry.types) {
    if (stored?.rightsToDeleteAbove === undefined) continue
    for await (const resource of reader.each({ type: stored.type, under: id })) {
      if (resource.id.key !== id.key) yield* stored.rightsToDeleteAbove(resource, id)
    }
  }
}
