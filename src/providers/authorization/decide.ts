/**
 * The decision: may one of these principals take this action at a scope? Pure, and deny by default: only an
 * assignment at the scope or above it, of a role that allows the action, makes it true. Nothing here can
 * take away what another assignment gives.
 */

import type { ActionMatcher } from '#kernel/action.ts'

/** An assignment as far as decisions care. Ids and keys in lower case. */
export interface Grant {
  readonly principalId: string
  readonly roleId: string
  /** Where it was made; it reaches everything below. */
  readonly scopeKey: string
  /** It carries a condition. Until conditions are evaluated, such an assignment grants nothing. */
  readonly conditioned: boolean
}

export interface Question {
  /** Lower case: `vendor.authorization/roleassignments/write`. */
  readonly action: string
  /** The scope and all above it (`scopeKeys` of the kernel). */
  readonly scopeKeys: readonly string[]
  /** The caller and every group it is in. */
  readonly principalIds: Iterable<string>
}

export interface Grants {
  /** Those made for this very principal at this very scope. */
  at(principalId: string, scopeKey: string): readonly Grant[]
  /** Does the principal hold any at all? Spares the walk up the scopes. */
  any(principalId: string): boolean
}

export interface Roles {
  /** `undefined` for a role that does not exist (any more): it allows nothing. */
  permissionsOf(roleId: string): ActionMatcher | undefined
}

export function decide(question: Question, grants: Grants, roles: Roles): boolean {
  for (const principalId of question.principalIds) {
    if (!grants.any(principalId)) continue
    for (const scopeKey of question.scopeKeys) {
      for (const grant of grants.at(principalId, scopeKey)) {
        if (allows(grant, question.action, roles)) return true
      }
    }
  }
  return false
}

/** What a single assignment gives, taken alone, at its scope and below. */
export function allows(grant: Grant, action: string, roles: Roles): boolean {
  if (grant.conditioned) return false
  return roles.permissionsOf(grant.roleId)?.(action) ?? false
}
