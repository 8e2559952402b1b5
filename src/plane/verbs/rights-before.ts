/**
 * Rights that a write may need besides its own, checked before its transaction, which may use nothing but its own
 * connection. The results are used inside, where it turns out whether they matter.
 */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { actionOf, type DataUse, type Prohibitions } from '../access.ts'
import { type CompiledStoredType, isStored } from '../compiled-type.ts'
import type { Context } from '../declare/resource.ts'
import type { DeclaredChildren, RightElsewhere } from '../declare/stored.ts'
import { contextOf, type PlaneDependencies } from '../dependencies.ts'
import type { WriteRoute } from '../locate.ts'
import type { RunInput } from '../plane.ts'

export interface RightsBefore {
  /** `action` as a type declares it, without the vendor word. Throws for one that was not checked. */
  may(action: string | DataUse, scope: ResourceId): boolean
  readonly brought: ChildrenRights | undefined
}

/** What a PUT creates along with its resource, and the caller's rights to it. */
export interface ChildrenRights {
  readonly brought: DeclaredChildren
  readonly compiled: CompiledStoredType
  /** The first action that the caller lacks there. */
  readonly missing: string | undefined
  readonly prohibitions: Prohibitions | undefined
}

export function askRightsBefore(
  deps: PlaneDependencies,
  route: WriteRoute,
  input: Pick<RunInput, 'principal'>,
  body: unknown,
): RightsBefore | Promise<RightsBefore> {
  return noneBefore(route.compiled) ?? askNeeded(deps, route, input, body)
}

const noneByType = new WeakMap<CompiledStoredType, RightsBefore>()

/** Most types need none: nothing is awaited for them, and the answer is one for all of a type. */
export function noneBefore(compiled: CompiledStoredType): RightsBefore | undefined {
  const { rightsElsewhere, declaredChildren } = compiled.stored
  if (rightsElsewhere !== undefined || declaredChildren !== undefined) return undefined
  let none = noneByType.get(compiled)
  if (none === undefined) {
    none = { may: answersOf(compiled), brought: undefined }
    noneByType.set(compiled, none)
  }
  return none
}

async function askNeeded(
  deps: PlaneDependencies,
  { compiled, id, kind }: WriteRoute,
  { principal }: Pick<RunInput, 'principal'>,
  body: unknown,
): Promise<RightsBefore> {
  // Checked against the version's schema, by which its own file types it.
  const rights = compiled.stored.rightsElsewhere?.(id, body as never, deps.registry.words)
  const may =
    rights === undefined ? answersOf(compiled) : await askRights(deps, compiled, principal, rights)
  const brought = kind === 'put' ? compiled.stored.declaredChildren?.(body as never) : undefined
  return { may, brought: brought && (await askBrought(deps, brought, id, principal)) }
}

/** The same for a DELETE. */
export async function askRightsToDelete(
  deps: PlaneDependencies,
  { compiled, id }: WriteRoute,
  principal: Principal,
): Promise<RightsBefore['may']> {
  return askRights(deps, compiled, principal, compiled.stored.rightsToDelete?.(id))
}

export async function askRights(
  deps: PlaneDependencies,
  compiled: Pick<CompiledStoredType, 'fullType'>,
  principal: Principal,
  rights: readonly RightElsewhere[] = [],
): Promise<RightsBefore['may']> {
  const answers = new Map<string, boolean>()
  if (rights.length > 0) {
    const { may } = outsideContextOf(deps, principal)
    for (const { action, scope } of rights) {
      answers.set(rightKey(action, scope), await may(action, scope))
    }
  }
  return answersOf(compiled, answers)
}

function answersOf(
  compiled: Pick<CompiledStoredType, 'fullType'>,
  answers?: ReadonlyMap<string, boolean>,
): RightsBefore['may'] {
  return (action, scope) => {
    const answer = answers?.get(rightKey(action, scope))
    if (answer !== undefined) return answer
    throw new Error(
      `${compiled.fullType} asks for ${actionOf(action)} without saying so beforehand`,
    )
  }
}

async function askBrought(
  deps: PlaneDependencies,
  brought: DeclaredChildren,
  id: ResourceId,
  principal: Principal,
): Promise<ChildrenRights> {
  const compiled = deps.registry.byName(brought.type)
  if (!isStored(compiled) || compiled.reconcile !== undefined) {
    throw new Error(`${brought.type} cannot be brought along`)
  }
  let missing: string | undefined
  const { may } = outsideContextOf(deps, principal)
  for (const action of [compiled.permissions.write, compiled.permissions.delete]) {
    if (missing === undefined && !(await may(action, id))) missing = action
  }
  const prohibitions = await deps.access.prohibitionsFor?.(principal)
  return { brought, compiled, missing, prohibitions }
}

/** The context, which notes each right that it says the caller has. */
export function notingRights(context: Context, held: Map<string, RightElsewhere>): Context {
  return {
    ...context,
    async may(action, scope) {
      const holds = await context.may(action, scope)
      if (holds) held.set(rightKey(action, scope), { action, scope })
      return holds
    },
  }
}

export async function holdsAll(
  deps: PlaneDependencies,
  principal: Principal,
  rights: Iterable<RightElsewhere>,
): Promise<boolean> {
  const { may } = outsideContextOf(deps, principal)
  for (const { action, scope } of rights) if (!(await may(action, scope))) return false
  return true
}

export function outsideContextOf(deps: PlaneDependencies, principal: Principal): Context {
  return contextOf(deps, { principal, correlationId: '' }, deps.clock.now(), deps.store)
}

export function rightKey(action: string | DataUse, { key }: ResourceId): string {
  return `${JSON.stringify(action).toLowerCase()} ${key}`
}
