/** A role: what it allows, and where it may be assigned. One stored form for all versions. */

import { type ActionMatcher, compilePermission } from '#kernel/action.ts'
import {
  extensionOf,
  isWithin,
  parseResourceId,
  type ResourceId,
  rootId,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'

/** `actions` minus `notActions`, and likewise for the data plane. Never a deny. */
export interface Permission {
  readonly actions: readonly string[]
  readonly notActions: readonly string[]
  readonly dataActions: readonly string[]
  readonly notDataActions: readonly string[]
}

export interface RoleDefinition {
  readonly roleName: string
  readonly description: string
  readonly kind: 'BuiltInRole' | 'CustomRole'
  readonly assignableScopes: readonly string[]
  readonly permissions: readonly Permission[]
}

/** What an action takes in memory beside its characters. */
const ownSize = 128

/** Characters of what it permits and where, as every process keeps them in memory. */
export function sizeOfRole({ permissions, assignableScopes }: RoleDefinition): number {
  let size = 0
  for (const scope of assignableScopes) size += scope.length
  for (const { actions, notActions, dataActions, notDataActions } of permissions) {
    for (const kind of [actions, notActions, dataActions, notDataActions]) {
      for (const action of kind) size += action.length + ownSize
    }
  }
  return size
}

/**
 * Whose room the role takes: that of its subscription. Its scopes are all within the one at which it is written, so those of a
 * writer of one subscription are all there. Empty for one above.
 */
export function subscriptionOfRole({ assignableScopes: [first = ''] }: RoleDefinition): string {
  const scope = parseResourceId(first)
  return (scope && subscriptionOf(scope)?.toLowerCase()) ?? ''
}

/** The id of a role definition, whatever scope it is read at. The GUID is shown in lower case. */
export function roleDefinitionId(words: VendorWords, roleId: string): ResourceId {
  return extensionOf(
    rootId,
    qualify(words, 'Authorization'),
    ['roleDefinitions'],
    [roleId.toLowerCase()],
  )
}

/** What permissions list for the control plane, and what for data: neither star reaches the other. */
export interface CompiledPermissions {
  readonly actions: ActionMatcher
  readonly dataActions: ActionMatcher
}

/** Matches the actions and data actions (lower case) of permissions: the union over all of them. */
export function compilePermissions(permissions: readonly Permission[]): CompiledPermissions {
  return {
    actions: anyOf(permissions.map((one) => compiled(one.actions, one.notActions))),
    dataActions: anyOf(permissions.map((one) => compiled(one.dataActions, one.notDataActions))),
  }
}

/** Fewer patterns are compared as quickly as an answer is found. */
const patternsMin = 16
/** Of all permissions together, since callers choose the actions: their characters, and what each answer takes besides. */
const answersSizeMax = 8 * 1024 * 1024
const answerSize = 64

let answersSize = 0
const remembered = new Set<Map<string, boolean>>()

/** A request may ask for the same action at thousands of scopes, and a role may have thousands of patterns. */
function remembering(matches: ActionMatcher): ActionMatcher {
  const known = new Map<string, boolean>()
  return (action) => {
    const before = known.get(action)
    if (before !== undefined) return before
    const answer = matches(action)
    if (answersSize > answersSizeMax) forgetAnswers()
    answersSize += action.length + answerSize
    known.set(action, answer)
    remembered.add(known)
    return answer
  }
}

function forgetAnswers(): void {
  for (const known of remembered) known.clear()
  remembered.clear()
  answersSize = 0
}

function compiled(actions: readonly string[], notActions: readonly string[]): ActionMatcher {
  const matches = compilePermission(actions, notActions)
  return actions.length + notActions.length < patternsMin ? matches : remembering(matches)
}

function anyOf([first, ...rest]: readonly ActionMatcher[]): ActionMatcher {
  if (first === undefined) return () => false
  if (rest.length === 0) return first
  return (action) => first(action) || rest.some((matches) => matches(action))
}

/**
 * Whether the role may be assigned at this scope. `places`: the scopes that contain it by placement, such as
 * management groups.
 */
export function isAssignableAt(
  role: RoleDefinition,
  scope: ResourceId,
  places: readonly string[],
): boolean {
  return [scope.key, ...places].some((key) =>
    role.assignableScopes.some((assignable) => isWithin(key, assignable.toLowerCase())),
  )
}

/** Whether the role may be assigned somewhere at or below this scope. */
export function isAssignableWithin(role: RoleDefinition, scope: ResourceId): boolean {
  return role.assignableScopes.some((assignable) => isWithin(assignable.toLowerCase(), scope.key))
}
