/** Finds a role by its GUID: a built-in one from the table, a custom one from the store. */

import type { VendorWords } from '#kernel/vendor.ts'
import type { Reader } from '#plane/declare/resource.ts'
import { type RoleDefinition, roleDefinitionId } from '../resources/role-definitions/model.ts'
import type { BuiltInRoles } from './built-in-roles.ts'

export async function findRole(
  builtIns: BuiltInRoles,
  reader: Pick<Reader, 'get'>,
  words: VendorWords,
  roleId: string,
): Promise<RoleDefinition | undefined> {
  const builtIn = builtIns.get(roleId.toLowerCase())
  if (builtIn !== undefined) return builtIn
  const stored = await reader.get(roleDefinitionId(words, roleId))
  // The type's `toModel` made what is stored at the id of a role definition.
  return stored?.model as RoleDefinition | undefined
}
