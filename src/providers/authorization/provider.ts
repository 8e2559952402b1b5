/** The namespace `Authorization`: roles, who holds them where, and the answer to "may they?" made of both. */

import type { Directory } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Attributes } from '#plane/access.ts'
import type { Provider } from '#plane/define.ts'
import type { Authorizer } from './authorizer.ts'
import { checkAccess } from './check-access/resource.ts'
import { deniedRequests, type FindDenied } from './denied-requests/resource.ts'
import { authorizationErrors } from './errors.ts'
import { type AuthorizationLimits, defaultAuthorizationLimits } from './limits.ts'
import { locks } from './locks/resource.ts'
import { permissions } from './permissions/resource.ts'
import { publishedVersions } from './published-versions.ts'
import { roleAssignments } from './role-assignments/resource.ts'
import { builtInRoles } from './role-definitions/built-in-roles.ts'
import { roleDefinitions } from './role-definitions/resource.ts'

export interface Inspection extends Pick<Authorizer, 'explain' | 'permissionsAt'> {
  /** What conditions may know of a stored resource. */
  attributesOf(id: ResourceId): Promise<Attributes>
  /** What a refused request asked for, while it is kept. */
  findDenied: FindDenied
}

export interface AuthorizationProviderParts {
  readonly words: VendorWords
  readonly directory: Directory
  /** The authorizer's answer; without one, deleting a role looks at every assignment. */
  readonly isRoleInUse?: (roleId: string) => boolean | undefined
  /** Asked by `permissions` and `checkAccess`, which are not there without it. */
  readonly inspection?: Inspection
  readonly limits?: Partial<AuthorizationLimits>
}

export function authorizationProvider(parts: AuthorizationProviderParts): Provider {
  const { words, directory, inspection, isRoleInUse = () => undefined } = parts
  const limits = { ...defaultAuthorizationLimits, ...parts.limits }
  const builtIns = builtInRoles(words)
  return {
    namespace: 'Authorization',
    alikeVersions: publishedVersions,
    description: 'Roles, and who may act with them where.',
    errors: authorizationErrors.entries,
    types: [
      roleDefinitions({ words, builtIns, limits, isRoleInUse }),
      roleAssignments({ words, builtIns, limits, directory }),
      locks(),
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
