/**
 * Rights that a write may need besides its own, checked before its transaction, which may use nothing but its own
 * connection. The results are used inside, where it turns out whether they matter.
 */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { allowsWithoutAttributes, type Prohibitions } from '../access.ts'
import { type CompiledStoredType, isStored } from '../compiled-type.ts'
import type { Brought, RightElsewhere } from '../declare/stored.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import type { WriteRoute } from '../locate.ts'
import type { RunInput } from '../plane.ts'

export interface RightsBefore {
  /** `action` as a type declares it, without the vendor word. Throws for one that was not checked. */
  may(action: string, scope: ResourceId): boolean
  readonly brought: BroughtAllowed | undefined
}

/** What a PUT creates along with its resource, and the caller's rights to it. */
export interface BroughtAllowed {
  readonly brought: Brought
  readonly compiled: CompiledStoredType
  /** The first action that the caller lacks there. */
  readonly missing: string | undefined
  readonly prohibitions: Prohibitions | undefined
}

export async function askRightsBefore(
  deps: PlaneDependencies,
  { compiled, id, kind }: WriteRoute,
  { principal }: Pick<RunInput, 'principal'>,
  body: unknown,
): Promise<RightsBefore> {
  // Checked against the version's schema, by which its own file types it.
  const rights = compiled.stored.rightsElsewhere?.(id, body as never, deps.registry.words)
  const may = await askAll(deps, compiled, principal, rights)
  const brought = kind === 'put' ? compiled.stored.brings?.(body as never) : undefined
  return { may, brought: brought && (await askBrought(deps, brought, id, principal)) }
}

/** The same for a DELETE. */
export async function askRightsToDelete(
  deps: PlaneDependencies,
  { compiled, id }: WriteRoute,
  principal: Principal,
): Promise<RightsBefore['may']> {
  return askAll(deps, compiled, principal, compiled.stored.rightsToDelete?.(id))
}

async function askAll(
  deps: PlaneDependencies,
  compiled: CompiledStoredType,
  principal: Principal,
  rights: readonly RightElsewhere[] = [],
): Promise<RightsBefore['may']> {
  const answers = new Map<string, boolean>()
  for (const { action, scope } of rights) {
    const qualified = qualify(deps.registry.words, action)
    answers.set(keyOf(action, scope), await isAllowed(deps, principal, qualified, scope))
  }
  return (action, scope) => {
    const answer = answers.get(keyOf(action, scope))
    if (answer !== undefined) return answer
    throw new Error(`${compiled.fullType} asks for ${action} without saying so beforehand`)
  }
}

async function askBrought(
  deps: PlaneDependencies,
  brought: Brought,
  id: ResourceId,
  principal: Principal,
): Promise<BroughtAllowed> {
  const compiled = deps.registry.byName(brought.type)
  if (!isStored(compiled) || compiled.reconcile !== undefined) {
    throw new Error(`${brought.type} cannot be brought along`)
  }
  let missing: string | undefined
  for (const action of [compiled.permissions.write, compiled.permissions.delete]) {
    if (missing === undefined && !(await isAllowed(deps, principal, action, id))) missing = action
  }
  const prohibitions = await deps.access.prohibitionsFor?.(principal)
  return { brought, compiled, missing, prohibitions }
}

async function isAllowed(
  { access, clock }: PlaneDependencies,
  principal: Principal,
  action: string,
  scope: ResourceId,
): Promise<boolean> {
  return allowsWithoutAttributes(access, { principal, action, scope }, clock.now())
}

function keyOf(action: string, { key }: ResourceId): string {
  return `${action.toLowerCase()} ${key}`
}
