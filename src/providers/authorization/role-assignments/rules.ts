/** What the schema cannot say of a role assignment (facts 2.3 to 2.5). Reads only, inside the transaction. */

import type { Problem } from '#kernel/error.ts'
import { type ResourceId, scopeOf, subscriptionIdOf, subscriptionOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { RuleContext } from '#plane/define.ts'
import { authorizationProblem } from '../errors.ts'
import { isGuid } from '../guid.ts'
import type { AuthorizationLimits } from '../limits.ts'
import type { BuiltInRoles } from '../role-definitions/built-in-roles.ts'
import { findRole } from '../role-definitions/find.ts'
import { isAssignableAt } from '../role-definitions/model.ts'
import { assignmentsAt, type RoleAssignment } from './model.ts'

export async function roleAssignmentRules(
  context: RuleContext<RoleAssignment>,
  builtIns: BuiltInRoles,
  limits: AuthorizationLimits,
): Promise<readonly Problem[]> {
  const { desired, previous } = context
  const problems = [...formProblems(desired), ...textProblems(desired, limits)]
  if (previous !== undefined) return [...problems, ...updateProblems(desired, previous)]
  if (desired.unrecognizedRole === undefined) {
    problems.push(...(await roleProblems(context, builtIns)))
  }
  if (problems.length === 0) problems.push(...(await limitProblems(context, limits)))
  return problems
}

/** Ids that are no ids. */
function formProblems(desired: RoleAssignment): Problem[] {
  const problems: Problem[] = []
  const { principalId, unrecognizedRole } = desired
  if (!isGuid(principalId)) {
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

/** Description and condition. What a condition says is parsed elsewhere; here it must be one, whole. */
function textProblems(desired: RoleAssignment, limits: AuthorizationLimits): Problem[] {
  const problems: Problem[] = []
  const { condition, conditionVersion, description } = desired
  const refuseCondition = (property: string, reason: string): void => {
    const path = `properties.${property}`
    problems.push(authorizationProblem('InvalidRoleAssignmentCondition', path, { reason }))
  }
  if (condition !== undefined) {
    if (condition.trim() === '') refuseCondition('condition', 'it is empty')
    else if (condition.length > limits.conditionLengthMax) {
      refuseCondition('condition', `it is longer than ${limits.conditionLengthMax} characters`)
    } else if (conditionVersion === undefined) {
      refuseCondition('conditionVersion', "a condition needs conditionVersion '2.0'")
    }
  }
  if (conditionVersion !== undefined) {
    if (conditionVersion !== '2.0') {
      refuseCondition('conditionVersion', "the only accepted version is '2.0'")
    } else if (condition === undefined) {
      refuseCondition('condition', 'a conditionVersion needs a condition')
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

/** Afterwards only the description and the condition may change (facts 2.3). */
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
  builtIns: BuiltInRoles,
): Promise<Problem[]> {
  const { desired, id, reader, words } = context
  const path = 'properties.roleDefinitionId'
  const role = await findRole(builtIns, reader, words, desired.roleId)
  if (role === undefined) {
    return [authorizationProblem('RoleDefinitionDoesNotExist', path, { name: desired.roleId })]
  }
  const scope = scopeOf(id)
  if (isAssignableAt(role, scope)) return []
  return [
    authorizationProblem('ScopeDoesNotMatchRoleDefinition', path, {
      scope: scope.text,
      role: role.roleName,
    }),
  ]
}

/** Subscriptions count everything in them, management groups only themselves; the root has no limit. */
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
    under = assignmentsAt(words, scope.key)
    limit = limits.assignmentsPerManagementGroupMax
  } else {
    return []
  }
  const count = await reader.count({ type: 'Authorization/roleAssignments', under, limit })
  if (count < limit) return []
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
