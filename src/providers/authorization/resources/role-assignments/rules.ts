/**
 * Rules of role assignments that the schema cannot express (facts 2.3 to 2.5). They only read, inside the
 * transaction.
 */

import { type Problem, refuse } from '#kernel/error.ts'
import { type ResourceId, scopeOf, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import { isUuid } from '#kernel/uuid.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { RuleContext } from '#plane/declare/stored.ts'
import type { Authorizer } from '../../domain/authorizer.ts'
import type { BuiltInRoles } from '../../domain/built-in-roles.ts'
import { parseCondition } from '../../domain/conditions/parse.ts'
import type { ConditionProblem } from '../../domain/conditions/problem.ts'
import { conditionVersion as languageVersion } from '../../domain/conditions/read.ts'
import { findRole } from '../../domain/find-role.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { extensionsAt } from '../../domain/list-around-scope.ts'
import { authorizationProblem, refuseAuthorization } from '../../errors.ts'
import { isAssignableAt } from '../role-definitions/model.ts'
import type { RoleAssignment } from './model.ts'

interface RuleDependencies {
  readonly builtIns: BuiltInRoles
  readonly limits: AuthorizationLimits
  readonly placesAbove: Authorizer['placesAbove']
}

export async function roleAssignmentRules(
  context: RuleContext<RoleAssignment>,
  deps: RuleDependencies,
): Promise<readonly Problem[]> {
  const { desired, previous } = context
  const { limits } = deps
  if (desired.missing === 'assignment') throw refuse.Conflict({ id: context.id.text })
  const problems = [...formProblems(desired), ...textProblems(desired, limits)]
  // An incomplete condition is reported as such, and not parsed.
  const whole = problems.every(({ code }) => code !== 'InvalidRoleAssignmentCondition')
  const misread = whole ? problemOfCondition(desired, context.words, limits) : undefined
  if (misread !== undefined) {
    // A single problem of a condition is reported with its position as data; among other problems, as text.
    if (problems.length === 0) throw refuseCondition(misread)
    problems.push(conditionProblem('condition', misread.message))
  }
  if (previous !== undefined) return [...problems, ...updateProblems(desired, previous)]
  if (desired.unrecognizedRole === undefined) {
    problems.push(...(await roleProblems(context, deps)))
  }
  if (problems.length === 0) problems.push(...(await limitProblems(context, limits)))
  return problems
}

/** Ids that are malformed. */
function formProblems(desired: RoleAssignment): Problem[] {
  const problems: Problem[] = []
  const { principalId, unrecognizedRole, missing } = desired
  if (missing === 'principal') {
    problems.push(
      authorizationProblem('PrincipalNotFound', 'properties.principalId', { principalId }),
    )
  }
  if (!isUuid(principalId)) {
    problems.push(
      authorizationProblem('InvalidPrincipalId', 'properties.principalId', { principalId }),
    )
  }
  if (unrecognizedRole !== undefined) {
    const path = 'properties.roleDefinitionId'
    problems.push(
      unrecognizedRole.startsWith('/')
        ? authorizationProblem('InvalidRoleDefinitionId', path, {
            id: unrecognizedRole,
            reason: 'expected a path that ends in roleDefinitions/{guid}',
          })
        : authorizationProblem('BadRequestFormat', path, { id: unrecognizedRole }),
    )
  }
  return problems
}

function conditionProblem(property: string, reason: string): Problem {
  return authorizationProblem('InvalidRoleAssignmentCondition', `properties.${property}`, {
    reason,
  })
}

/** A complete condition, as `textProblems` requires, that cannot be parsed. */
function problemOfCondition(
  { condition }: RoleAssignment,
  words: VendorWords,
  limits: AuthorizationLimits,
): ConditionProblem | undefined {
  if (condition === undefined) return undefined
  const parsed = parseCondition(condition, words, limits)
  return parsed.ok ? undefined : parsed
}

function refuseCondition({ message, ...place }: ConditionProblem): Error {
  const { line, column, position, expected, found } = place
  return refuseAuthorization.InvalidRoleAssignmentCondition(
    { reason: message },
    {
      target: 'properties.condition',
      additionalInfo: [
        { type: 'ConditionProblem', info: { line, column, position, expected, found } },
      ],
    },
  )
}

/** Description and condition: both or neither, of the right version and length. */
function textProblems(desired: RoleAssignment, limits: AuthorizationLimits): Problem[] {
  const problems: Problem[] = []
  const { condition, conditionVersion, description } = desired
  const add = (property: string, reason: string): void => {
    problems.push(conditionProblem(property, reason))
  }
  if (condition !== undefined) {
    if (condition.trim() === '') add('condition', 'it is empty')
    else if (condition.length > limits.conditionLengthMax) {
      add('condition', `it is longer than ${limits.conditionLengthMax} characters`)
    } else if (conditionVersion === undefined) {
      add('conditionVersion', "a condition needs conditionVersion '2.0'")
    }
  }
  if (conditionVersion !== undefined) {
    if (conditionVersion !== languageVersion) {
      add('conditionVersion', "the only accepted version is '2.0'")
    } else if (condition === undefined) {
      add('condition', 'a conditionVersion needs a condition')
    }
  }
  if (description !== undefined && description.length > limits.descriptionLengthMax) {
    problems.push({
      path: 'properties.description',
      message: `at most ${limits.descriptionLengthMax} characters are allowed`,
    })
  }
  return problems
}

/** After creation only the description and the condition may change (facts 2.3). */
function updateProblems(desired: RoleAssignment, previous: RoleAssignment): Problem[] {
  const fixed = {
    principalId: desired.principalId === previous.principalId,
    roleDefinitionId: desired.roleId === previous.roleId,
    principalType: desired.principalType === previous.principalType,
    delegatedManagedIdentityResourceId:
      desired.delegatedManagedIdentityResourceId === previous.delegatedManagedIdentityResourceId,
  }
  const changed = Object.entries(fixed).flatMap(([property, same]) => (same ? [] : [property]))
  if (changed.length === 0) return []
  const properties = changed.join(', ')
  const path = `properties.${changed[0]}`
  return [authorizationProblem('RoleAssignmentUpdateNotPermitted', path, { properties })]
}

async function roleProblems(
  context: RuleContext<RoleAssignment>,
  { builtIns, placesAbove }: RuleDependencies,
): Promise<Problem[]> {
  const { desired, id, reader, words } = context
  const path = 'properties.roleDefinitionId'
  const role = await findRole(builtIns, reader, words, desired.roleId)
  if (role === undefined) {
    return [authorizationProblem('RoleDefinitionDoesNotExist', path, { name: desired.roleId })]
  }
  const scope = scopeOf(id)
  const isThere = !isRoleElsewhere(scope, words)
  if (isThere && isAssignableAt(role, scope, placesAbove(scope))) return []
  return [
    authorizationProblem('ScopeDoesNotMatchRoleDefinition', path, {
      scope: scope.text,
      role: role.roleName,
    }),
  ]
}

/** A role is one row at the root, whatever path names it. What is attached to another path would outlive it. */
function isRoleElsewhere({ segments }: ResourceId, words: VendorWords): boolean {
  const { namespace = '', types = [] } = segments.at(-1) ?? {}
  const type = `${namespace}/${types.join('/')}`.toLowerCase()
  return (
    segments.length > 1 && type === qualify(words, 'Authorization/roleDefinitions').toLowerCase()
  )
}

/** A subscription counts everything in it, a management group only itself; the root has no limit. */
async function limitProblems(
  context: RuleContext<RoleAssignment>,
  limits: AuthorizationLimits,
): Promise<Problem[]> {
  const { id, reader, words } = context
  const scope = scopeOf(id)
  const subscription = subscriptionOf(id)
  let under: ResourceId | string
  let limit: number
  if (subscription !== undefined) {
    under = subscriptionIdOf(subscription)
    limit = limits.assignmentsPerSubscriptionMax
  } else if (isManagementGroup(scope, qualify(words, 'Management'))) {
    under = extensionsAt(words, 'Authorization/roleAssignments', scope.key)
    limit = limits.assignmentsPerManagementGroupMax
  } else {
    return []
  }
  const query = { type: 'Authorization/roleAssignments', under, limit }
  if (await reader.hasRoom(query)) return []
  const counted = subscription === undefined ? scope.text : subscriptionIdOf(subscription).text
  return [authorizationProblem('RoleAssignmentLimitExceeded', '', { limit, scope: counted })]
}

function isManagementGroup(scope: ResourceId, namespace: string): boolean {
  const [first, second] = scope.segments
  return (
    second === undefined &&
    first?.namespace?.toLowerCase() === namespace.toLowerCase() &&
    first.types[0]?.toLowerCase() === 'managementgroups' &&
    first.types.length === 1
  )
}
