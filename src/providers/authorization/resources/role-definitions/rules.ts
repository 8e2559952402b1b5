/** Rules of custom roles that the schema cannot express, and which roles cannot be deleted. They only read. */

import type { Problem } from '#kernel/error.ts'
import { isWithin, nameOf, parseResourceId, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { InsideContext, Reader, Resource } from '#plane/declare/resource.ts'
import type { RuleContext } from '#plane/declare/stored.ts'
import type { AssignmentsOf, Authorizer } from '../../domain/authorizer.ts'
import type { BuiltInRoles } from '../../domain/built-in-roles.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { type AuthorizationCode, authorizationProblem, refuseAuthorization } from '../../errors.ts'
import type { RoleAssignment } from '../role-assignments/model.ts'
import { isAssignableAt, type RoleDefinition, sizeOfRole, subscriptionOfRole } from './model.ts'

/** The id in the path as the caller wrote it; the row is at the root, whatever scope the path names. */
export interface Requested {
  readonly requested?: ResourceId
}

interface RoleRules {
  readonly builtIns: BuiltInRoles
  readonly limits: AuthorizationLimits
  readonly placesAbove: Authorizer['placesAbove']
  readonly assignmentsOf: AssignmentsOf
}

export async function roleDefinitionRules(
  context: RuleContext<RoleDefinition> & Requested,
  { builtIns, limits, placesAbove, assignmentsOf }: RoleRules,
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
  const known = assignmentsOf(name.toLowerCase())
  problems.push(...sizeProblems(desired, limits, known))
  if (problems.length > 0) return problems
  refuseOutside(scope, previous, name)
  refuseOutside(scope, desired, name)
  if (previous === undefined) {
    problems.push(...(await limitProblems(context.reader, limits)))
  } else {
    const isBeyond = ({ id }: Pick<Resource, 'id'>): boolean => {
      const at = scopeOf(id)
      return !isAssignableAt(desired, at, placesAbove(at))
    }
    await refuseBeyond({ reader: context.reader, assignmentsOf }, name.toLowerCase(), isBeyond)
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
  { builtIns, assignmentsOf }: Pick<RoleRules, 'builtIns' | 'assignmentsOf'>,
): Promise<void> {
  const id = context.id ?? context.resource?.id
  const name = id === undefined ? '' : nameOf(id).toLowerCase()
  if (builtIns.has(name)) throw refuseAuthorization.RoleDefinitionUpdateNotPermitted({ name })
  if (id === undefined || context.resource === undefined) return
  refuseOutside(scopeOf(context.requested ?? id), context.resource.model, name)
  if (await isAssigned({ reader: context.reader, assignmentsOf }, name)) {
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
  where: Assignments,
  roleId: string,
  isBeyond: (assignment: Pick<Resource, 'id'>) => boolean,
): Promise<void> {
  if (!(await isAssigned(where, roleId, isBeyond))) return
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

/** Every process has all roles in memory. No subscription may use up what all may have. */
function sizeProblems(
  role: RoleDefinition,
  { customRolesSizeMax, customRolesSizePerSubscriptionMax }: AuthorizationLimits,
  known: ReturnType<AssignmentsOf>,
): Problem[] {
  const subscription = subscriptionOfRole(role)
  const bounds = [
    ['all custom roles', known?.sizeOfOthers(), customRolesSizeMax],
    ...(subscription === ''
      ? []
      : [
          [
            'the custom roles of a subscription',
            known?.sizeOfOthers(subscription),
            customRolesSizePerSubscriptionMax,
          ] as const,
        ]),
  ] as const
  return bounds.flatMap(([which, others = 0, most]) => {
    if (others + sizeOfRole(role) <= most) return []
    const reason = `${which} together may have no more than ${most} characters of scopes and actions, with 128 more for each action`
    return [problem('properties.permissions', reason)]
  })
}

async function limitProblems(reader: Reader, limits: AuthorizationLimits): Promise<Problem[]> {
  const limit = limits.customRolesMax
  const query = { type: 'Authorization/roleDefinitions', under: '/', limit }
  if (await reader.hasRoom(query)) return []
  return [authorizationProblem('RoleDefinitionLimitExceeded', '', { limit })]
}

/** Assignments that are looked at one by one. Where a role has more, reading all in long pages is quicker. */
const lookedAtMax = 1000

interface Assignments extends Pick<RoleRules, 'assignmentsOf'> {
  readonly reader: Reader
}

/**
 * Whether there is such an assignment of the role. The index knows them, up to a position of its feed. Where that has moved
 * on, every assignment is read.
 */
async function isAssigned(
  { reader, assignmentsOf }: Assignments,
  roleId: string,
  matches: (assignment: Pick<Resource, 'id'>) => boolean = () => true,
): Promise<boolean> {
  const isOne = (row: Resource | undefined): boolean =>
    // The type's `toModel` made the rows.
    row !== undefined && (row.model as RoleAssignment).roleId === roleId && matches(row)
  const { keys = [], position } = assignmentsOf(roleId) ?? {}
  let looked = 0
  for (const key of keys) {
    if (++looked > lookedAtMax) break
    const id = parseResourceId(key)
    if (id !== undefined && matches({ id }) && isOne(await reader.get(key))) return true
  }
  const isWhole = position !== undefined && looked <= lookedAtMax
  if (isWhole && position === (await reader.feedPosition('authorization'))) return false
  for await (const row of reader.each({ type: 'Authorization/roleAssignments', under: '/' })) {
    if (isOne(row)) return true
  }
  return false
}
