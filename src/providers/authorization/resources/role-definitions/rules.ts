/** Rules of custom roles that the schema cannot express, and which roles cannot be deleted. They only read. */

import type { Problem } from '#kernel/error.ts'
import { isWithin, nameOf, parseResourceId, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { InsideContext, Reader, Resource } from '#plane/declare/resource.ts'
import type { RuleContext } from '#plane/declare/stored.ts'
import type { Authorizer } from '../../domain/authorizer.ts'
import type { BuiltInRoles } from '../../domain/built-in-roles.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { type AuthorizationCode, authorizationProblem, refuseAuthorization } from '../../errors.ts'
import type { RoleAssignment } from '../role-assignments/model.ts'
import { isAssignableAt, type RoleDefinition } from './model.ts'

/** The id in the path as the caller wrote it; the row is at the root, whatever scope the path names. */
export interface Requested {
  readonly requested?: ResourceId
}

interface RoleRules {
  readonly builtIns: BuiltInRoles
  readonly limits: AuthorizationLimits
  readonly placesAbove: Authorizer['placesAbove']
}

export async function roleDefinitionRules(
  context: RuleContext<RoleDefinition> & Requested,
  { builtIns, limits, placesAbove }: RoleRules,
): Promise<readonly Problem[]> {
  const { id, desired, previous } = context
  const name = nameOf(id)
  if (builtIns.has(name.toLowerCase())) {
    throw refuseAuthorization.RoleDefinitionUpdateNotPermitted({ name })
  }
  const scope = scopeOf(context.requested ?? id)
  const problems = [
    ...nameProblems(desired, builtIns),
    ...scopeProblems(desired, limits),
    ...actionProblems(desired, limits),
  ]
  if (problems.length > 0) return problems
  refuseOutside(scope, previous, name)
  refuseOutside(scope, desired, name)
  if (previous === undefined) {
    problems.push(...(await limitProblems(context.reader, limits)))
  } else {
    const isReached = (at: ResourceId): boolean => isAssignableAt(desired, at, placesAbove(at))
    await refuseBeyond(context.reader, name.toLowerCase(), isReached)
  }
  return problems
}

interface RoleDeletion extends InsideContext, Requested {
  readonly id?: ResourceId
  /** Undefined when nothing is stored there. */
  readonly resource: Resource<RoleDefinition> | undefined
}

/** Throws when a role may not be deleted: built-in, valid beyond the scope in question, or in use. */
export async function roleDeletionRules(
  context: RoleDeletion,
  builtIns: BuiltInRoles,
  isRoleInUse: (roleId: string) => boolean | undefined,
): Promise<void> {
  const id = context.id ?? context.resource?.id
  const name = id === undefined ? '' : nameOf(id).toLowerCase()
  if (builtIns.has(name)) throw refuseAuthorization.RoleDefinitionUpdateNotPermitted({ name })
  if (id === undefined || context.resource === undefined) return
  refuseOutside(scopeOf(context.requested ?? id), context.resource.model, name)
  // The index may lag behind concurrent writes: its yes is final, its no is checked again in the transaction that
  // holds the role.
  if (isRoleInUse(name) === true || (await assignmentOf(context.reader, name)) !== undefined) {
    throw refuseAuthorization.RoleDefinitionHasAssignments({ name, done: 'deleted' })
  }
}

/**
 * The permission to write was checked at `scope`, so nothing beyond it may change: otherwise a role author in one
 * subscription could widen a role that another subscription uses.
 */
function refuseOutside(scope: ResourceId, role: RoleDefinition | undefined, name: string): void {
  const outside = role?.assignableScopes.find((one) => !isWithin(scopeKeyOf(one), scope.key))
  if (outside !== undefined) {
    throw refuseAuthorization.RoleDefinitionScopeNotPermitted({
      name,
      assignable: outside,
      scope: scope.text,
    })
  }
}

/**
 * No assignment may lie outside of the assignable scopes. Otherwise whoever may write the role there would change what it
 * gives where they have no right.
 */
async function refuseBeyond(
  reader: Reader,
  roleId: string,
  isReached: (scope: ResourceId) => boolean,
): Promise<void> {
  const beyond = await assignmentOf(reader, roleId, (id) => !isReached(scopeOf(id)))
  if (beyond === undefined) return
  const done = 'changed so that one of them lies outside of its assignable scopes'
  throw refuseAuthorization.RoleDefinitionHasAssignments({ name: roleId, done })
}

/** A scope of a list of scopes; `scopeProblems` refuses malformed ones. */
function scopeKeyOf(scope: string): string {
  return parseResourceId(scope)?.key ?? scope.toLowerCase()
}

function problem(path: string, reason: string, code: AuthorizationCode = 'InvalidRoleDefinition') {
  return authorizationProblem(code, path, { reason })
}

function nameProblems(role: RoleDefinition, builtIns: BuiltInRoles): Problem[] {
  const path = 'properties.roleName'
  if (role.roleName.trim() === '') return [problem(path, 'the name is empty')]
  const lower = role.roleName.toLowerCase()
  for (const builtIn of builtIns.values()) {
    if (builtIn.roleName.toLowerCase() === lower) {
      return [
        authorizationProblem('RoleDefinitionWithSameNameExists', path, {
          existing: ', a built-in one',
        }),
      ]
    }
  }
  return []
}

function scopeProblems(role: RoleDefinition, limits: AuthorizationLimits): Problem[] {
  const path = 'properties.assignableScopes'
  const { assignableScopes } = role
  if (assignableScopes.length === 0) return [problem(path, 'at least one scope is needed')]
  if (assignableScopes.length > limits.assignableScopesMax) {
    return [problem(path, `no more than ${limits.assignableScopesMax} scopes are allowed`)]
  }
  const problems: Problem[] = []
  assignableScopes.forEach((scope, at) => {
    const canonical = parseResourceId(scope)?.text
    // The exact spelling is required (no trailing slash, nothing encoded), since scopes are compared as text.
    if (canonical !== scope) problems.push(problem(`${path}[${at}]`, `'${scope}' is no scope`))
  })
  return problems
}

const actionPattern = /^[A-Za-z0-9_.*-]+(?:\/[A-Za-z0-9_.*-]+)*$/
const verbs = new Set(['read', 'write', 'delete', 'action'])
const kinds = ['actions', 'notActions', 'dataActions', 'notDataActions'] as const

/** Whether it is an action name (facts 2.6): a namespace, a type, a verb; a star may replace any part. */
export function isActionPattern(text: string): boolean {
  if (text.length > 512 || !actionPattern.test(text)) return false
  const parts = text.toLowerCase().split('/')
  const last = parts.at(-1) ?? ''
  return last.includes('*') || (verbs.has(last) && (parts.length > 2 || text.includes('*')))
}

function actionProblems(role: RoleDefinition, limits: AuthorizationLimits): Problem[] {
  const path = 'properties.permissions'
  // Counted before any is looked at: each one that is wrong is told at length.
  const max = limits.actionsPerRoleMax
  let count = 0
  for (const permission of role.permissions)
    for (const kind of kinds) count += permission[kind].length
  if (count > max) return [problem(path, `no more than ${max} actions are allowed`)]
  if (role.permissions.length > max) {
    return [problem(path, `no more than ${max} permissions are allowed`)]
  }
  const problems: Problem[] = []
  role.permissions.forEach((permission, at) => {
    for (const kind of kinds) {
      permission[kind].forEach((action, index) => {
        if (!isActionPattern(action)) {
          const where = `${path}[${at}].${kind}[${index}]`
          problems.push(
            problem(where, `'${action}' is no action such as 'Provider.Name/type/read'`),
          )
        }
      })
    }
  })
  return problems
}

async function limitProblems(reader: Reader, limits: AuthorizationLimits): Promise<Problem[]> {
  const limit = limits.customRolesMax
  const query = { type: 'Authorization/roleDefinitions', under: '/', limit }
  if (await reader.hasRoom(query)) return []
  return [authorizationProblem('RoleDefinitionLimitExceeded', '', { limit })]
}

/** An assignment of the role, at a place that is asked for. Reads every assignment. */
async function assignmentOf(
  reader: Reader,
  roleId: string,
  matches: (id: ResourceId) => boolean = () => true,
): Promise<ResourceId | undefined> {
  const type = 'Authorization/roleAssignments'
  let after: string | undefined
  for (;;) {
    const rows = await reader.list({
      type,
      under: '/',
      ...(after === undefined ? {} : { after }),
      limit: 1000,
    })
    // The type's `toModel` made the rows.
    const found = rows.find(
      ({ id, model }) => (model as RoleAssignment).roleId === roleId && matches(id),
    )
    if (found !== undefined) return found.id
    after = rows.at(-1)?.id.key
    if (rows.length < 1000 || after === undefined) return undefined
  }
}
