/**
 * The list of a scope (facts 2.2): assignments above it from the root down, then those at and below it in order of
 * id. A filter on principals reads a bounded number of rows and may return a short page with a next link.
 */

import type { Directory } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { type AssignmentFilter, parseAssignmentFilter } from '../../domain/filters.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { listAroundScope } from '../../domain/list-around-scope.ts'
import { refuseAuthorization } from '../../errors.ts'
import type { RoleAssignment } from './model.ts'

export interface AssignmentListDependencies {
  readonly directory: Directory
  readonly limits: AuthorizationLimits
  /** The keys of all scopes that contain one; without it, those of its path. */
  readonly scopesAbove?: ((scope: ResourceId) => Promise<readonly string[]>) | undefined
}

export async function listAssignments(
  context: ListContext,
  { directory, limits, scopesAbove }: AssignmentListDependencies,
): Promise<ListPage<Resource<RoleAssignment>>> {
  const filter = parseAssignmentFilter(context.query.get('$filter') ?? '')
  const principals = await principalsOf(filter, directory)
  return listAroundScope<RoleAssignment>(context, limits, {
    type: 'Authorization/roleAssignments',
    atScope: filter.atScope,
    ...(scopesAbove === undefined ? {} : { scopeKeys: await scopesAbove(context.parent) }),
    ...(principals === undefined
      ? {}
      : { isWanted: ({ model }) => principals.has(model.principalId) }),
  })
}

async function principalsOf(
  filter: AssignmentFilter,
  directory: Directory,
): Promise<ReadonlySet<string> | undefined> {
  const { principal } = filter
  if (principal === undefined) return undefined
  if (!principal.inherited) return new Set([principal.id])
  const found = await directory.find(principal.id)
  if (found?.type === 'Group') {
    const reason = 'assignedTo() takes a user or a service principal, not a group'
    throw refuseAuthorization.InvalidFilter({ reason })
  }
  return new Set([principal.id, ...(await directory.groupsOf(principal.id))])
}
