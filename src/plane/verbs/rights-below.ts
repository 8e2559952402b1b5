/**
 * Rights that a DELETE needs for what is below: it may hold for resources elsewhere, as the deny settings of a stack do, and
 * ends without anybody else being asked. They are checked before the transaction, since what is below may be megabytes and
 * others wait for a transaction that reads them. Who denies something meanwhile changes rights, so the DELETE is opened again.
 * Of types that are written one at a time, others wait also where a DELETE is opened: much is looked at before (decision 0386).
 */

import type { ApiError } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { FeedPositions } from '#stores/store.ts'
import { actionOf, type Prohibitions } from '../access.ts'
import type { RightElsewhere } from '../declare/stored.ts'
import { createReader, type PlaneDependencies } from '../dependencies.ts'
import { authorizationFailed } from '../grant.ts'
import { freeTurn } from '../next-turn.ts'
import {
  type ForbiddenBelow,
  findForbidden,
  removalCharactersMax,
  rowsBelow,
} from './remove-below.ts'
import { outsideContextOf, rightKey } from './rights-before.ts'

/** What keeps a principal from deleting what is below. */
export interface LookBelow {
  /** Where the feeds of rights stood, as far as this process knew. */
  readonly asOf: FeedPositions | undefined
  readonly prohibitions: Prohibitions | undefined
  readonly missingBelow: RightElsewhere | undefined
  readonly forbidden: ForbiddenBelow
}

export async function lookBelow(
  deps: PlaneDependencies,
  id: ResourceId,
  principal: Principal,
): Promise<LookBelow> {
  const asOf = deps.access.asOf?.()
  const [prohibitions, missingBelow] = await Promise.all([
    deps.access.prohibitionsFor?.(principal),
    missingRightBelow(deps, id, principal),
  ])
  const forbidden = await findForbidden(deps, { id, principal, prohibitions })
  return { asOf, prohibitions, missingBelow, forbidden }
}

/** While others wait. Undefined where it is much, and was not looked at by the rights of now. */
export async function lookBelowInTurn(
  deps: PlaneDependencies,
  id: ResourceId,
  principal: Principal,
  before: LookBelow | undefined,
): Promise<LookBelow | undefined> {
  if (before !== undefined && before.asOf === deps.access.asOf?.()) return before
  return (await isMuchBelow(deps, id)) ? undefined : lookBelow(deps, id, principal)
}

async function isMuchBelow(deps: PlaneDependencies, id: ResourceId): Promise<boolean> {
  let characters = 0
  const bytesMax = removalCharactersMax
  for await (const { document } of rowsBelow(deps, deps.store, id.key, { bytesMax })) {
    characters += document.length
    if (characters > removalCharactersMax) return true
  }
  return false
}

/** The first right that the principal lacks. */
async function missingRightBelow(
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
