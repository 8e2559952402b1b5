/**
 * The decision: may one of these principals take this action at a scope? Pure, and deny by default: only an
 * assignment at the scope or above it, of a role that allows the action, makes it true. A condition narrows
 * the assignment it stands on. A deny assignment takes away what any assignment gives; nothing else does.
 */

import type { ActionMatcher } from '#kernel/action.ts'
import type { Attributes } from '#plane/access.ts'
import type { Condition, ConditionFacts, Truth } from './conditions/condition.ts'

/** An assignment as far as decisions care. Ids and keys in lower case. */
export interface Grant {
  /** The key of the assignment itself. */
  readonly key: string
  readonly principalId: string
  readonly roleId: string
  /** Where it was made; it reaches everything below. */
  readonly scopeKey: string
  /** What else must be true for it to count. One that cannot be read is never true. */
  readonly condition: Condition | undefined
}

/** A deny assignment as far as decisions care. Ids and keys in lower case. */
export interface Denial {
  readonly key: string
  readonly name: string
  readonly scopeKey: string
  /** It does not reach what is below its scope. */
  readonly onlyHere: boolean
  /** Everybody, where it is undefined. */
  readonly principalIds: ReadonlySet<string> | undefined
  readonly excludedIds: ReadonlySet<string>
  readonly denies: ActionMatcher
}

export interface Denials {
  /** Those made at this very scope. */
  deniedAt(scopeKey: string): readonly Denial[] | undefined
}

export interface Question {
  /** Lower case: `vendor.authorization/roleassignments/write`. */
  readonly action: string
  /** The scope and all above it (`scopeKeys` of the kernel). */
  readonly scopeKeys: readonly string[]
  /** The caller and every group it is in. */
  readonly principalIds: readonly string[]
  /** Custom attributes of the caller. */
  readonly principal: Attributes
  /** A conditioned grant is never a plain yes, even where its condition holds already (`self-grant.ts`). */
  readonly narrowly?: boolean
}

export interface Grants {
  /** Those made at this very scope, by principal; `undefined` for none at all, which most scopes have. */
  madeAt(scopeKey: string): ReadonlyMap<string, readonly Grant[]> | undefined
}

export interface Roles {
  /** `undefined` for a role that does not exist (any more): it allows nothing. */
  permissionsOf(roleId: string): ActionMatcher | undefined
}

const none: readonly Grant[] = Object.freeze([])

/** The first that stands in the way, from the root down. */
export function denialOf(
  { action, scopeKeys, principalIds }: Pick<Question, 'action' | 'scopeKeys' | 'principalIds'>,
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
          denial.denies(action),
      )
    if (found !== undefined) return found
  }
  return undefined
}

/** Yes, no, or: if any of these conditions turns out to hold. */
type Decision = boolean | readonly Condition[]

export function decide(question: Question, grants: Grants, roles: Roles): Decision {
  const { narrowly = false } = question
  const facts = factsAhead(question)
  let open: Condition[] | undefined
  for (const scopeKey of question.scopeKeys) {
    const made = grants.madeAt(scopeKey)
    if (made === undefined) continue
    for (const principalId of question.principalIds) {
      for (const grant of made.get(principalId) ?? none) {
        const truth = counts(grant, facts, roles)
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

/** What a single assignment gives, taken alone, at its scope and below. `undefined`: not known yet. */
export function counts(grant: Grant, facts: ConditionFacts, roles: Roles): Truth {
  if (!(roles.permissionsOf(grant.roleId)?.(facts.action) ?? false)) return false
  return grant.condition === undefined ? true : grant.condition(facts)
}

/** Before the body is read: the action and the caller are known, and nothing else is. */
function factsAhead({ action, principal }: Pick<Question, 'action' | 'principal'>) {
  return { action, principal, now: 'unknown', request: 'unknown', resource: 'unknown' } as const
}
