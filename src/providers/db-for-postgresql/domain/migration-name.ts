/**
 * Names of migrations. The contract's pattern is `^[a-z][a-z0-9]*$`. The published service and the published
 * command line also create migrations with a GUID as the name. PUT accepts both. Calls on a migration that does not
 * exist keep to the contract's pattern. The maximum length is our choice.
 */

import { type ApiError, refuse } from '#kernel/error.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import type { NameRule } from '#plane/declare/wire.ts'
import { refusePostgres } from '../errors.ts'

const rule = '1 to 63 lower-case letters, digits and hyphens, a letter or digit first; or a GUID'
const guid = '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}'
const ofContract = /^[a-z][a-z0-9]{0,62}$/

export const migrationName: NameRule = {
  pattern: new RegExp(`^(?:[a-z0-9][a-z0-9-]{0,62}|${guid})$`),
  rule,
  refuse: (name) => refusePostgres.InvalidInput({ name, rule }),
}

/** The error for a name that no migration has. */
export function noSuchMigration(id: ResourceId): ApiError {
  const name = nameOf(id)
  return ofContract.test(name)
    ? refuse.ResourceNotFound({ id: id.text })
    : refusePostgres.InvalidInput({ name, rule: 'lower-case letters and digits, a letter first' })
}
