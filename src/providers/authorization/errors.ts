/** The refusals of this provider (facts 2.4), and how a rule reports one together with other problems of a body. */

import { defineErrors, type Params, type Problem } from '#kernel/error.ts'

export const authorizationErrors = defineErrors({
  RoleAssignmentExists: {
    status: 409,
    message:
      "The principal already has this role at this scope, by the role assignment '{existing}'; a second one under another name is not allowed.",
    advice: 'User: use the existing assignment, whose id the message gives.',
  },
  RoleAssignmentUpdateNotPermitted: {
    status: 400,
    message:
      'Tenant, application, principal, role and scope of a role assignment are fixed when it is created; changed here: {properties}.',
    advice: 'User: delete the assignment and create one with a new name.',
  },
  RoleAssignmentNotFound: {
    status: 404,
    message: "The role assignment '{name}' was not found at the scope '{scope}'.",
    advice: 'User: list the assignments of the scope; the name is a GUID.',
  },
  RoleAssignmentLimitExceeded: {
    status: 400,
    message: "No more than {limit} role assignments are allowed in '{scope}'.",
    advice: 'User: assign groups instead of single principals. The limit is fixed.',
  },
  PrincipalNotFound: {
    status: 400,
    message:
      "The principal '{principalId}' does not exist in the directory. If it was created moments ago, give its 'principalType' to skip this check.",
    advice: 'User: check the object id, or give `principalType`.',
  },
  InvalidPrincipalId: {
    status: 400,
    message: "The principal id '{principalId}' is not a GUID.",
    advice: 'User: give the object id of the principal, not its name.',
  },
  UnmatchedPrincipalType: {
    status: 400,
    message: "The principal '{principalId}' is of the type '{actual}', not '{given}'.",
    advice: 'User: mend `principalType`, or leave it out.',
  },
  InvalidRoleAssignmentId: {
    status: 400,
    message: "The role assignment name '{name}' is not a GUID.",
    advice: 'User: choose any fresh GUID as the name.',
  },
  InvalidRoleDefinitionId: {
    status: 400,
    message: "'{id}' does not name a role definition: {reason}.",
    advice: 'User: `/providers/{namespace}.Authorization/roleDefinitions/{guid}` is the form.',
  },
  BadRequestFormat: {
    status: 400,
    message: "The role definition id '{id}' is not understood: a path is expected.",
    advice: 'User: `/providers/{namespace}.Authorization/roleDefinitions/{guid}` is the form.',
  },
  InvalidRoleAssignmentCondition: {
    status: 400,
    message: 'The condition is invalid: {reason}.',
    advice: "User: give `condition` together with `conditionVersion` '2.0', or neither.",
  },
  ScopeDoesNotMatchRoleDefinition: {
    status: 400,
    message: "The scope '{scope}' is not among the assignable scopes of the role '{role}'.",
    advice: 'User: assign at a scope the role lists, or have the role extended.',
  },
  RoleDefinitionDoesNotExist: {
    // 400 when the body of an assignment names it (a problem of that body), 404 for a path (facts 2.4).
    status: 404,
    message: "The role definition '{name}' does not exist.",
    advice: 'User: list the role definitions of the scope.',
  },
  InvalidRoleDefinition: {
    status: 400,
    message: 'The role definition is invalid: {reason}.',
    advice: 'User: the message says what was expected.',
  },
  RoleDefinitionWithSameNameExists: {
    status: 409,
    message: 'A role definition of that `roleName` exists already{existing}.',
    advice: 'User: choose another `roleName`.',
  },
  RoleDefinitionUpdateNotPermitted: {
    status: 403,
    message: "The built-in role definition '{name}' cannot be changed or deleted.",
    advice: 'User: copy its actions into a custom role.',
  },
  RoleDefinitionScopeNotPermitted: {
    status: 403,
    message:
      "The role '{name}' can be assigned at '{assignable}', which lies outside '{scope}'; it must be written or deleted at a scope that contains all of its assignable scopes.",
    advice: 'User: repeat the request at a scope further up, or at the root.',
  },
  RoleDefinitionHasAssignments: {
    status: 400,
    message: "The role definition '{name}' is in use by role assignments and cannot be {done}.",
    advice: 'User: delete the assignments of the role first, or keep their scopes assignable.',
  },
  RoleDefinitionLimitExceeded: {
    status: 400,
    message: 'No more than {limit} custom role definitions are allowed.',
    advice: 'User: delete roles that are no longer used. The limit is fixed.',
  },
  InvalidFilter: {
    status: 400,
    message: 'The $filter is not supported here: {reason}.',
    advice: 'User: the reference lists the filters of each list.',
  },
})

export type AuthorizationCode = keyof typeof authorizationErrors.entries

export const refuseAuthorization: typeof authorizationErrors.refuse = authorizationErrors.refuse

/** A refusal as a problem of a body, to be reported together with others. */
export function authorizationProblem(
  code: AuthorizationCode,
  path: string,
  params: Params,
): Problem {
  return { code, path, message: refuseAuthorization[code](params).message }
}
