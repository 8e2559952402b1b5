/** Role assignments: a principal has a role at a scope and below (contract, operation 1). */

import type { Directory } from '#kernel/principal.ts'
import { nameOf, scopeOf } from '#kernel/resource-id.ts'
import { uuidPattern } from '#kernel/uuid.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { Authorizer } from '../../domain/authorizer.ts'
import type { BuiltInRoles } from '../../domain/built-in-roles.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { refuseAuthorization } from '../../errors.ts'
import { type AssignmentListDependencies, listAssignments } from './list.ts'
import { assignmentUniqueKey, type RoleAssignment } from './model.ts'
import { askDirectory } from './prepare.ts'
import { roleAssignmentRules } from './rules.ts'
import { type PreparedBody, type RoleAssignmentBody, v2022_04_01 } from './versions/2022-04-01.ts'

interface RoleAssignmentDependencies {
  readonly words: VendorWords
  readonly builtIns: BuiltInRoles
  readonly limits: AuthorizationLimits
  readonly placesAbove: Authorizer['placesAbove']
  readonly directory: Directory
  readonly takesUnknownPrincipals: boolean
  readonly scopesAbove?: AssignmentListDependencies['scopesAbove']
}

const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'

export function roleAssignments(deps: RoleAssignmentDependencies): ResourceType {
  const { words, limits, directory, scopesAbove } = deps
  return defineStored<RoleAssignment>({
    type: 'Authorization/roleAssignments',
    description: 'Who may act with which role, at a scope and everything below it.',
    scope: 'any',
    query: { list: ['$filter', 'tenantId'], get: ['tenantId'], delete: ['tenantId'] },
    name: {
      pattern: uuidPattern,
      rule: 'a GUID',
      refuse: (name) => refuseAuthorization.InvalidRoleAssignmentId({ name }),
    },
    versions: [v2022_04_01],
    verbs: ['get', 'list', 'put', 'delete'],
    feed: 'authorization',
    prepare: (context, body: RoleAssignmentBody) => askDirectory(deps, context, body),
    rules: (context) => roleAssignmentRules(context, deps),
    unique: {
      key: assignmentUniqueKey,
      refuse: (_id, existing) =>
        refuseAuthorization.RoleAssignmentExists({ existing: existing?.text ?? 'unknown' }),
    },
    list: { page: (context) => listAssignments(context, { directory, limits, scopesAbove }) },
    attributes: assignmentFacts,
    notFound: (id) =>
      refuseAuthorization.RoleAssignmentNotFound({ name: nameOf(id), scope: scopeOf(id).text }),
    sample: {
      name: (seed) => `5eed0000-0000-4000-8000-${seed.toString(16).padStart(12, '0')}`,
      body: (seed) => sampleBody(words, seed, 'sample'),
      changed: (seed) => sampleBody(words, seed, 'sample, changed'),
    },
  })
}

/** The three attributes that conditions on delegation compare (facts 2.7). */
function assignmentFacts(
  { roleId, principalId, principalType }: RoleAssignment,
  body?: unknown,
): Readonly<Record<string, string | undefined>> {
  // The body is the result of `prepare`.
  const taken = (body as PreparedBody | undefined)?.typeIsUnverified === true
  return {
    RoleDefinitionId: roleId,
    PrincipalId: principalId,
    // A type that only the caller states is no fact: whoever is restricted by it must not choose it.
    PrincipalType: taken ? undefined : principalType,
  }
}

function sampleBody(words: VendorWords, seed: number, description: string): object {
  return {
    properties: {
      principalId: `0b5e55ed-0000-4000-8000-${seed.toString(16).padStart(12, '0')}`,
      principalType: 'ServicePrincipal',
      roleDefinitionId: `/providers/${qualify(words, 'Authorization')}/roleDefinitions/${reader}`,
      description,
    },
  }
}
