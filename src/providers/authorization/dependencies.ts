/** What the provider is given. */

import type { Directory } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Attributes } from '#plane/access.ts'
import type { RouteDescription } from '#plane/plane.ts'
import type { Authorizer } from './domain/authorizer.ts'
import type { AuthorizationLimits } from './domain/limits.ts'
import type { FindDenied } from './resources/denied-requests/resource.ts'

export interface Inspection extends Pick<Authorizer, 'explain' | 'permissionsAt'> {
  /** What conditions may know of a stored resource. */
  attributesOf(id: ResourceId): Promise<Attributes>
  /** What a refused request asked for, while it is kept. */
  findDenied: FindDenied
}

export interface AuthorizationProviderDependencies {
  readonly words: VendorWords
  readonly directory: Directory
  /** Who is not in the directory may be given a role without a type; else only with one. */
  readonly takesUnknownPrincipals?: boolean
  /** The authorizer's answer; without one, deleting a role looks at every assignment. */
  readonly isRoleInUse?: (roleId: string) => boolean | undefined
  /** The authorizer's: keys of all scopes that one lies in, by its path or otherwise. */
  readonly scopesAbove?: Authorizer['scopesAbove']
  /** The authorizer's: scopes that one was placed in, such as management groups. */
  readonly placesAbove?: Authorizer['placesAbove']
  /** Asked by `permissions` and `checkAccess`, which are not there without it. */
  readonly inspection?: Inspection
  /** The table of routes; without it nobody is told what actions there are. */
  readonly describe?: () => readonly RouteDescription[]
  readonly limits?: Partial<AuthorizationLimits>
}
