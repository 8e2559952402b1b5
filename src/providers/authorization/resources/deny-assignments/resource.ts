/**
 * Deny assignments. Callers can read and list them; only the installation writes them (`storeAsSystem` of the
 * plane's services): a deployment stack that protects its resources makes one.
 */

import type { Directory } from '#kernel/principal.ts'
import { uuidPattern } from '#kernel/uuid.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored } from '#plane/declare/stored.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { parseDenyFilter } from '../../domain/filters.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { listAroundScope } from '../../domain/list-around-scope.ts'
import { type DenyAssignment, denyAssignmentType, everybody } from './model.ts'
import { v2022_04_01 } from './versions/2022-04-01.ts'

export function denyAssignments(directory: Directory, limits: AuthorizationLimits): ResourceType {
  return defineStored<DenyAssignment>({
    type: denyAssignmentType,
    description: 'What principals may not do, at a scope and below, whatever their roles grant.',
    scope: 'any',
    query: { list: ['$filter'] },
    name: { pattern: uuidPattern, rule: 'a GUID' },
    versions: [v2022_04_01],
    verbs: ['get', 'list'],
    feed: 'authorization',
    list: { page: (context) => listDenied(context, directory, limits) },
  })
}

async function listDenied(
  context: ListContext,
  directory: Directory,
  limits: AuthorizationLimits,
): Promise<ListPage<Resource<DenyAssignment>>> {
  const { atScope, name, principal } = parseDenyFilter(context.query.get('$filter') ?? '')
  const ids = new Set<string>(principal === undefined ? [] : [principal.id])
  if (principal?.inherited === true) {
    ids.add(everybody)
    for (const id of await directory.groupsOf(principal.id)) ids.add(id)
  }
  return listAroundScope<DenyAssignment>(context, limits, {
    type: denyAssignmentType,
    atScope,
    ...(name === undefined && principal === undefined
      ? {}
      : {
          isWanted: ({ model }) =>
            (name === undefined || model.denyAssignmentName.toLowerCase() === name) &&
            (principal === undefined ||
              model.principals.some(({ id }) => ids.has(id)) ||
              (principal.excludedToo && model.excludePrincipals.some(({ id }) => ids.has(id)))),
        }),
  })
}
