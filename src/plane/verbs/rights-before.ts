/**
 * What a write needs besides its own right, asked before its transaction: the work of a transaction may ask nothing beside
 * it. The answers are used inside, where it is known whether they matter.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { allowsWithoutAttributes, type Prohibitions } from '../access.ts'
import { type CompiledStoredType, isStored } from '../compiled-type.ts'
import type { Brought } from '../declare/stored.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import type { WriteRoute } from '../locate.ts'
import type { RunInput } from '../plane.ts'

export interface RightsBefore {
  /** `action` as a type declares it, without the vendor word. Throws for one that nobody asked about. */
  may(action: string, scope: ResourceId): boolean
  readonly brought: BroughtAllowed | undefined
}

/** What a PUT brings along, and what the caller may do of it. */
export interface BroughtAllowed {
  readonly brought: Brought
  readonly compiled: CompiledStoredType
  /** The first action that the caller may not do there. */
  readonly missing: string | undefined
  readonly prohibitions: Prohibitions | undefined
}

export async function askRightsBefore(
  deps: PlaneDependencies,
  { compiled, id, kind }: WriteRoute,
  { principal }: Pick<RunInput, 'principal'>,
  body: unknown,
): Promise<RightsBefore> {
  const { words } = deps.registry
  const now = deps.clock.now()
  const ask = async (action: string, scope: ResourceId): Promise<boolean> =>
    allowsWithoutAttributes(deps.access, { principal, action, scope }, now)
  const answers = new Map<string, boolean>()
  // Checked against the version's schema, by which its own file types it.
  for (const right of compiled.stored.rightsElsewhere?.(id, body as never, words) ?? []) {
    const answer = await ask(qualify(words, right.action), right.scope)
    answers.set(keyOf(right.action, right.scope), answer)
  }
  const brought = kind === 'put' ? compiled.stored.brings?.(body as never) : undefined
  return {
    may(action, scope) {
      const answer = answers.get(keyOf(action, scope))
      if (answer !== undefined) return answer
      throw new Error(`${compiled.fullType} asks for ${action} without saying so beforehand`)
    },
    brought: brought && (await askBrought()),
  }

  async function askBrought(): Promise<BroughtAllowed | undefined> {
    if (brought === undefined) return undefined
    const below = deps.registry.byName(brought.type)
    if (!isStored(below) || below.reconcile !== undefined) {
      throw new Error(`${brought.type} cannot be brought along`)
    }
    let missing: string | undefined
    for (const action of [below.permissions.write, below.permissions.delete]) {
      if (missing === undefined && !(await ask(action, id))) missing = action
    }
    const prohibitions = await deps.access.prohibitionsFor?.(principal)
    return { brought, compiled: below, missing, prohibitions }
  }
}

function keyOf(action: string, { key }: ResourceId): string {
  return `${action.toLowerCase()} ${key}`
}
