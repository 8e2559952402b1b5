/**
 * The role definitions visible from a scope: built-in ones first, then the custom ones that can be assigned there.
 * A page reads a bounded number of rows and may come back short.
 */

import { refuse } from '#kernel/error.ts'
import { nameOf, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { GetContext, Source } from '#plane/declare/computed.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import type { Authorizer } from '../../domain/authorizer.ts'
import type { BuiltInRoles } from '../../domain/built-in-roles.ts'
import { parseRoleFilter, type RoleFilter } from '../../domain/filters.ts'
import type { AuthorizationLimits } from '../../domain/limits.ts'
import { refuseAuthorization } from '../../errors.ts'
import {
  isAssignableAt,
  isAssignableWithin,
  type RoleDefinition,
  roleDefinitionId,
} from './model.ts'
import type { Requested } from './rules.ts'
import { propertiesOf, v2022_04_01 } from './versions/2022-04-01.ts'

/** Built-in roles have no author, and a date before any installation. */
const builtInSince = '2020-01-01T00:00:00.000Z'

const pageBuiltIn = 'builtin:'
const pageCustom = 'custom:'

interface RoleListDependencies {
  readonly builtIns: BuiltInRoles
  readonly limits: AuthorizationLimits
  readonly placesAbove: Authorizer['placesAbove']
}

/** The scope in question, and those that contain it by placement. */
interface Place {
  readonly scope: ResourceId
  readonly places: readonly string[]
}

export function roleDefinitionSource(deps: RoleListDependencies): Source {
  const { builtIns, placesAbove } = deps
  return {
    /** A built-in role, or a custom one; a custom one that is not visible from the scope is refused as missing. */
    async get(context: GetContext & Requested) {
      const { id, reader, words } = context
      const builtIn = builtIns.get(nameOf(id).toLowerCase())
      if (builtIn !== undefined) return showBuiltIn(words, nameOf(id), builtIn)
      const scope = scopeOf(context.requested ?? id)
      const place = { scope, places: placesAbove(scope) }
      const stored = await reader.get(roleDefinitionId(words, nameOf(id)))
      if (stored !== undefined && !isVisible(stored.model as RoleDefinition, place)) {
        throw refuseAuthorization.RoleDefinitionDoesNotExist({ name: nameOf(id) })
      }
      return undefined
    },
    list: (context) => listRoles(context, deps),
  }
}

async function listRoles(
  context: ListContext,
  { builtIns, limits, placesAbove }: RoleListDependencies,
): Promise<ListPage<object>> {
  const { words, limit, parent, reader } = context
  const place = { scope: parent, places: placesAbove(parent) }
  const filter = parseRoleFilter(context.query.get('$filter') ?? '')
  const cursor = context.cursor ?? pageBuiltIn
  const items: object[] = []
  let after: string | undefined
  if (cursor.startsWith(pageBuiltIn)) {
    let past = cursor === pageBuiltIn
    const last = cursor.slice(pageBuiltIn.length)
    for (const [roleId, role] of builtIns) {
      if (past && selects(filter, role, place)) {
        if (items.length === limit) return { items, next: `${pageBuiltIn}${lastName(items)}` }
        items.push(showBuiltIn(words, roleId, role))
      }
      past ||= roleId === last
    }
  } else if (cursor.startsWith(pageCustom)) {
    after = cursor.slice(pageCustom.length)
  } else {
    throw refuse.InvalidContinuationToken()
  }
  // One row more than requested shows whether there is a next page.
  let budget = limits.scanRowsMax
  while (budget > 0) {
    const size = Math.min(budget, 500)
    const page = await reader.page({
      type: 'Authorization/roleDefinitions',
      under: '/',
      after,
      limit: size,
    })
    for (const row of page.items) {
      // The type's `toModel` made the rows.
      if (selects(filter, row.model as RoleDefinition, place)) {
        if (items.length === limit) return { items, next: `${pageCustom}${after ?? ''}` }
        items.push(showCustom(words, row as Resource<RoleDefinition>))
      }
      after = row.id.key
    }
    if (page.next === undefined) return { items }
    // Roles may have megabytes each: the page ends with the bytes that are read for it.
    if (page.isShort === true) break
    budget -= page.items.length
  }
  return { items, next: `${pageCustom}${after ?? ''}` }
}

function lastName(items: readonly object[]): string {
  // `showBuiltIn` made the items.
  return (items.at(-1) as { readonly name: string }).name
}

function selects(filter: RoleFilter, role: RoleDefinition, place: Place): boolean {
  if (filter.kind !== undefined && filter.kind !== role.kind) return false
  if (filter.roleName !== undefined && filter.roleName !== role.roleName.toLowerCase()) return false
  const { scope, places } = place
  return isAssignableAt(role, scope, places) || (filter.below && isAssignableWithin(role, scope))
}

function isVisible(role: RoleDefinition, { scope, places }: Place): boolean {
  return isAssignableAt(role, scope, places) || isAssignableWithin(role, scope)
}

function showBuiltIn(words: VendorWords, roleId: string, role: RoleDefinition): object {
  return {
    ...envelope(words, roleId),
    properties: { ...propertiesOf(role), createdOn: builtInSince, updatedOn: builtInSince },
  }
}

function showCustom(words: VendorWords, row: Resource<RoleDefinition>): object {
  return {
    ...envelope(words, nameOf(row.id)),
    ...v2022_04_01.fromModel(row.model, { ...row, words }),
  }
}

function envelope(words: VendorWords, roleId: string): object {
  const id = roleDefinitionId(words, roleId)
  return {
    id: id.text,
    name: nameOf(id),
    type: `${qualify(words, 'Authorization')}/roleDefinitions`,
  }
}
