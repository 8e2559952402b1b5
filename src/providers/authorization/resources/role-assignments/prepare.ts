/**
 * Reads from the directory, before the transaction, whether the principal of a new assignment exists and its type.
 * It completes the body's `principalType` and changes nothing else.
 */

import type { Directory } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { isUuid } from '#kernel/uuid.ts'
import type { Context } from '#plane/declare/resource.ts'
import { refuseAuthorization } from '../../errors.ts'
import type { RoleAssignment } from './model.ts'
import type { PreparedBody, RoleAssignmentBody } from './versions/2022-04-01.ts'

interface DirectoryRule {
  readonly directory: Pick<Directory, 'find'>
  readonly takesUnknownPrincipals: boolean
}

/** Used for an unknown principal: most ids in templates are of services. */
const assumedType = 'ServicePrincipal'

export async function askDirectory(
  { directory, takesUnknownPrincipals }: DirectoryRule,
  context: Pick<Context, 'reader'> & { readonly id: ResourceId },
  body: RoleAssignmentBody,
): Promise<PreparedBody> {
  const principalId = body.properties.principalId.toLowerCase()
  // The rules refuse text that is no id, together with all other problems.
  if (!isUuid(principalId)) return body
  const given = body.properties.principalType
  // The type's `toModel` made what is stored at the id of an assignment.
  const stored = (await context.reader.get(context.id))?.model as RoleAssignment | undefined
  // The type is fixed at creation, so an existing assignment outlives its principal (facts 2.5).
  if (stored?.principalId === principalId && given === undefined) {
    return { ...body, missing: 'assignment' }
  }
  const found = await directory.find(principalId)
  if (found === undefined) {
    const principalType = given ?? (takesUnknownPrincipals ? assumedType : undefined)
    if (principalType === undefined) return { ...body, missing: 'principal' }
    return { ...body, properties: { ...body.properties, principalType }, typeIsUnverified: true }
  }
  if (given !== undefined && given !== found.type) {
    throw refuseAuthorization.UnmatchedPrincipalType({ principalId, actual: found.type, given })
  }
  return { ...body, properties: { ...body.properties, principalType: found.type } }
}
