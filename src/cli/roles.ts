/** Converts names of roles to ids. */

import { textOf } from '#client/answer.ts'
import type { Client } from '#client/client.ts'
import { propertiesOf } from '#client/resource.ts'
import { isUuid } from '#kernel/uuid.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { didYouMean } from '../config/nearest-name.ts'
import { LocalProblem } from './command.ts'
import { apiVersions, extensionPath } from './resource-path.ts'

interface Role {
  readonly id: string
  /** A GUID. */
  readonly name: string
  readonly roleName: string
}

export async function listRoles(
  client: Client,
  words: VendorWords,
  scope: string,
): Promise<Role[]> {
  const roles: Role[] = []
  const path = extensionPath(words, scope, 'Authorization/roleDefinitions')
  const query = { 'api-version': apiVersions.roleDefinitions }
  for (const item of await client.list(path, { query })) {
    const roleName = textOf(propertiesOf(item), 'roleName')
    const [id, name] = [textOf(item, 'id'), textOf(item, 'name')]
    if (id !== undefined && name !== undefined) roles.push({ id, name, roleName: roleName ?? name })
  }
  return roles
}

/** The id of a role given by name, GUID or full id. Throws `LocalProblem` for an unknown name. */
export async function findRoleId(
  client: Client,
  words: VendorWords,
  scope: string,
  given: string,
): Promise<string> {
  if (given.startsWith('/')) return given
  if (isUuid(given)) {
    return `${extensionPath(words, '/', 'Authorization/roleDefinitions')}/${given.toLowerCase()}`
  }
  const roles = await listRoles(client, words, scope)
  const wanted = given.toLowerCase()
  const found = roles.find((role) => role.roleName.toLowerCase() === wanted)
  if (found !== undefined) return found.id
  const known = roles.map((role) => role.roleName)
  throw new LocalProblem(
    'RoleNotFound',
    `There is no role named "${given}" at ${scope}${didYouMean(given, known)} (armature role definition list)`,
  )
}

/** The last part of an id, which all its forms share. */
export function lastPart(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1).toLowerCase()
}
