/** The namespace `Authorization`: roles, role assignments, and the decisions that follow from them. */

import type { Provider } from '#plane/declare/provider.ts'
import type { AuthorizationProviderDependencies } from './dependencies.ts'
import { builtInRoles } from './domain/built-in-roles.ts'
import { defaultAuthorizationLimits } from './domain/limits.ts'
import { authorizationErrors } from './errors.ts'
import { publishedVersions } from './published-versions.ts'
import { checkAccess } from './resources/check-access/resource.ts'
import { deniedRequests } from './resources/denied-requests/resource.ts'
import { denyAssignments } from './resources/deny-assignments/resource.ts'
import { locks } from './resources/locks/resource.ts'
import { permissions } from './resources/permissions/resource.ts'
import { classicAdministrators, policies } from './resources/policies/resource.ts'
import { providerOperations } from './resources/provider-operations/resource.ts'
import { roleAssignments } from './resources/role-assignments/resource.ts'
import { roleDefinitions } from './resources/role-definitions/resource.ts'

export function authorizationProvider(deps: AuthorizationProviderDependencies): Provider {
  const { words, directory, inspection, assignmentsOf = () => undefined } = deps
  const { scopesAbove, placesAbove = () => [], takesUnknownPrincipals = false } = deps
  const limits = { ...defaultAuthorizationLimits, ...deps.limits }
  const builtIns = builtInRoles(words)
  return {
    namespace: 'Authorization',
    serviceNames: ['Role-based access control'],
    compatibleVersions: publishedVersions,
    description: 'Roles, and who may act with them where.',
    errors: authorizationErrors.entries,
    types: [
      roleDefinitions({ words, builtIns, limits, assignmentsOf, placesAbove }),
      roleAssignments({
        ...{ words, builtIns, limits, directory, scopesAbove, placesAbove },
        takesUnknownPrincipals,
      }),
      denyAssignments(directory, limits),
      locks(limits),
      ...classicAdministrators(),
      // Where principals that nobody knows are taken, so are documents of any type.
      ...(takesUnknownPrincipals ? [] : policies()),
      ...(deps.describeActions === undefined ? [] : [providerOperations(deps.describeActions)]),
      ...(inspection === undefined
        ? []
        : [
            permissions((principal, scope) => inspection.permissionsAt(principal, scope)),
            checkAccess({
              limits,
              explain: (asked) => inspection.explain(asked),
              attributesOf: (id) => inspection.attributesOf(id),
            }),
            deniedRequests((id) => inspection.findDenied(id)),
          ]),
    ],
  }
}
