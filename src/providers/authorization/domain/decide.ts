/**
 * The decision: may one of these principals take this action at a scope? Pure, and deny by default: only an
 * assignment at the scope or above it, of a role that allows the action, makes it true. A condition narrows
 * the assignment it stands on. A deny assignment takes away what any assignment gives; nothing else does.
 */

import type { Attributes } from '#plane/access.ts'
import type { CompiledPermissions } from '../resources/role-definitions/model.ts'
import type { Condition, ConditionFacts, Truth } from './conditions/condition.ts'
import { createSteps } from './conditions/steps.ts'

/** An assignment as decisions need it. Ids and keys are in lower case. */
export interface Grant {
  /** The key of the assignment itself. */
  readonly key: string
  readonly principalId: string
  /** It was made for a group. */
  readonly isForGroup: boolean
  readonly roleId: string
  /** The scope it was made at; it applies to everything below. */
  readonly scopeKey: string
  /** The condition that must hold for it to apply. A condition that cannot be read never holds. */
  readonly condition: Condition | undefined
}

/** A deny assignment as decisions need it. Ids and keys are in lower case. */
export interface Denial {
  readonly key: string
  readonly name: string
  readonly scopeKey: string
  /** It does not apply below its scope. */
  readonly onlyHere: boolean
  /** Everybody, when undefined. */
  readonly principalIds: ReadonlySet<string> | undefined
  readonly excludedIds: ReadonlySet<string>
  /** It does not apply to who acts through one of these. */
  readonly throughIds: ReadonlySet<string>
  readonly denies: CompiledPermissions
}

export interface Denials {
  /** The deny assignments made at this very scope. */
  deniedAt(scopeKey: string): readonly Denial[] | undefined
}

/** In whose name somebody holds assignments. */
export interface Holders {
  /** The caller and all its groups. */
  readonly principalIds: readonly string[]
  /** Of them, groups that a token asserts: its issuer may let people name them, also like the id of somebody. */
  readonly asserted?: ReadonlySet<string>
  /** As `Principal.through`. */
  readonly through?: readonly string[] | undefined
}

export function isHeld({ principalId, isForGroup }: Grant, { asserted }: Holders): boolean {
  return isForGroup || asserted?.has(principalId) !== true
}

export interface DecisionRequest extends Holders {
  /** In lower case: `vendor.authorization/roleassignments/write`. */
  readonly action: string
  /** The action is one on data: it is looked for in `dataActions`, and nowhere else. */
  readonly isDataAction?: boolean
  /** The scope and all above it (`scopeKeys` of the kernel). */
  readonly scopeKeys: readonly string[]
  /** The caller's custom attributes. */
  readonly principal: Attributes
  /** A grant with a condition is never a plain yes, even if its condition already holds (`self-grant.ts`). */
  readonly narrowly?: boolean
}

export interface Grants {
  /** The assignments made at this very scope, by principal; `undefined` for none, which most scopes have. */
  madeAt(scopeKey: string): ReadonlyMap<string, readonly Grant[]> | undefined
}

export interface Roles {
  /** `undefined` for a role that does not exist (any more): it allows nothing. */
  permissionsOf(roleId: string): CompiledPermissions | undefined
}

const none: readonly Grant[] = Object.freeze([])

/** The first deny assignment that applies, from the root down. */
export function denialOf(
  {
    action,
    isDataAction,
    scopeKeys,
    principalIds,
    through,
  }: Pick<DecisionRequest, 'action' | 'isDataAction' | 'scopeKeys' | 'principalIds' | 'through'>,
  denials: Denials,
): Denial | undefined {
  const target = scopeKeys.at(-1)
  for (const scopeKey of scopeKeys) {
    const found = denials
      .deniedAt(scopeKey)
      ?.find(
        (denial) =>
          (!denial.onlyHere || scopeKey === target) &&
          (denial.principalIds === undefined ||
            principalIds.some((id) => denial.principalIds?.has(id))) &&
          !principalIds.some((id) => denial.excludedIds.has(id)) &&
          through?.some((id) => denial.throughIds.has(id)) !== true &&
          denial.denies[planeOf(isDataAction)](action),
      )
    if (found !== undefined) return found
  }
  return undefined
}

function planeOf(isDataAction = false): keyof CompiledPermissions {
  return isDataAction ? 'dataActions' : 'actions'
}

/** Yes, no, or yes if any of these conditions holds. */
type Decision = boolean | readonly Condition[]

export function decide(question: DecisionRequest, grants: Grants, roles: Roles): Decision {
  const { narrowly = false } = question
  const facts = factsAhead(question)
  let open: Condition[] | undefined
  for (const scopeKey of question.scopeKeys) {
    const made = grants.madeAt(scopeKey)
    if (made === undefined) continue
    for (const principalId of question.principalIds) {
      for (const grant of made.get(principalId) ?? none) {
        const truth = isHeld(grant, question) && counts(grant, facts, roles)
        if (truth === false) continue
        if (truth === true && (grant.condition === undefined || !narrowly)) return true
        if (grant.condition !== undefined) {
          open ??= []
          open.push(grant.condition)
        }
      }
    }
  }
  return open ?? false
}

/** What a single assignment allows by itself, at its scope and below. `undefined`: not known yet. */
export function counts(grant: Grant, facts: ConditionFacts, roles: Roles): Truth {
  const permissions = roles.permissionsOf(grant.roleId)
  if (permissions?.[planeOf(facts.isDataAction)](facts.action) !== true) return false
  return grant.condition === undefined ? true : grant.condition(facts)
}

/** Before the body is read, only the action and the caller are known. */
function factsAhead({ action, isDataAction = false, principal }: DecisionRequest) {
  const unknown = { now: 'unknown', request: 'unknown', resource: 'unknown' } as const
  return { action, isDataAction, principal, ...unknown, steps: createSteps() }
}
