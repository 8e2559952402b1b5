/** What the provider needs. */

import type { Directory } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Attributes } from '#plane/access.ts'
import type { ActionDescription } from '#plane/describe.ts'
import type { AssignmentsOf, Authorizer } from './domain/authorizer.ts'
import type { AuthorizationLimits } from './domain/limits.ts'
import type { FindDenied } from './resources/denied-requests/resource.ts'

export interface Inspection extends Pick<Authorizer, 'explain' | 'permissionsAt'> {
  /** The attributes of a stored resource, for conditions. */
  attributesOf(id: ResourceId): Promise<Attributes>
  /** Finds what a refused request asked for, while it is kept. */
  findDenied: FindDenied
}

export interface AuthorizationProviderDependencies {
  readonly words: VendorWords
  readonly directory: Directory
  /** Whether a principal outside the directory may get a role without a type; otherwise it needs one. */
  readonly takesUnknownPrincipals?: boolean
  /** The authorizer's answer; without it, changing and deleting a role read every assignment. */
  readonly assignmentsOf?: AssignmentsOf
  /** The authorizer's keys of all scopes that contain a scope, by path or by placement. */
  readonly scopesAbove?: Authorizer['scopesAbove']
  /** The authorizer's scopes that contain one by placement, such as management groups. */
  readonly placesAbove?: Authorizer['placesAbove']
  /** Used by `permissions` and `checkAccess`, which do not exist without it. */
  readonly inspection?: Inspection
  /** All actions; without it the list of actions does not exist. */
  readonly describeActions?: () => readonly ActionDescription[]
  readonly limits?: Partial<AuthorizationLimits>
}
