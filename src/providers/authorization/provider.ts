/** The namespace `Authorization`: roles, who holds them where, and the answer to "may they?" made of both. */

import type { Directory } from '#kernel/principal.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Provider } from '#plane/define.ts'
import { authorizationErrors } from './errors.ts'
import { type AuthorizationLimits, defaultAuthorizationLimits } from './limits.ts'
import { roleAssignments } from './role-assignments/resource.ts'
import { builtInRoles } from './role-definitions/built-in-roles.ts'
import { roleDefinitions } from './role-definitions/resource.ts'

export interface AuthorizationProviderParts {
  readonly words: VendorWords
  readonly directory: Directory
  /** The authorizer's answer; without one, deleting a role looks at every assignment. */
  readonly isRoleInUse?: (roleId: string) => boolean | undefined
  readonly limits?: Partial<AuthorizationLimits>
}

export function authorizationProvider(parts: AuthorizationProviderParts): Provider {
  const { words, directory, isRoleInUse = () => undefined } = parts
  const limits = { ...defaultAuthorizationLimits, ...parts.limits }
  const builtIns = builtInRoles(words)
  return {
    namespace: 'Authorization',
    description: 'Roles, and who may act with them where.',
    errors: authorizationErrors.entries,
    types: [
      roleDefinitions({ words, builtIns, limits, isRoleInUse }),
      roleAssignments({ words, builtIns, limits, directory }),
    ],
  }
}
