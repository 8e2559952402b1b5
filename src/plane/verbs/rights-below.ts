/**
 * Rights that a DELETE needs for what is below: it may hold for resources elsewhere, as the deny settings of a stack do, and
 * ends without anybody else being asked. They are checked before the transaction, since what is below may be megabytes and
 * others wait for a transaction that reads them. Who denies something meanwhile changes rights, so the DELETE is opened again.
 */

import type { ApiError } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { actionOf } from '../access.ts'
import type { RightElsewhere } from '../declare/stored.ts'
import { createReader, type PlaneDependencies } from '../dependencies.ts'
import { authorizationFailed } from '../grant.ts'
import { freeTurn } from '../next-turn.ts'
import { outsideContextOf, rightKey } from './rights-before.ts'

/** The first right that the principal lacks. */
export async function missingRightBelow(
  deps: PlaneDependencies,
  id: ResourceId,
  principal: Principal,
): Promise<RightElsewhere | undefined> {
  const held = new Set<string>()
  const { may } = outsideContextOf(deps, principal)
  const reader = createReader(deps, deps.store)
  for (const { stored } of deps.registry.types) {
    if (stored?.rightsToDeleteAbove === undefined) continue
    for await (const resource of reader.each({ type: stored.type, under: id })) {
      await freeTurn(principal.id)
      if (resource.id.key === id.key) continue
      for (const right of stored.rightsToDeleteAbove(resource, id)) {
        const key = rightKey(right.action, right.scope)
        if (held.has(key)) continue
        await freeTurn(principal.id)
        if (!(await may(right.action, right.scope))) return right
        held.add(key)
      }
    }
  }
  return undefined
}

export function rightBelowMissing(
  { registry }: PlaneDependencies,
  { action, scope }: RightElsewhere,
  principal: Principal,
): ApiError {
  return authorizationFailed(
    { action: qualify(registry.words, actionOf(action)), scope },
    principal,
  )
}
