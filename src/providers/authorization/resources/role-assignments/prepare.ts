/**
 * What only the directory knows of a new assignment, asked ahead of the transaction: whether the principal
 * exists and of which type it is. Completes the body's `principalType` and changes nothing else.
 */

import type { Directory } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { isUuid } from '#kernel/uuid.ts'
import type { Context } from '#plane/declare/resource.ts'
import { refuseAuthorization } from '../../errors.ts'
import type { RoleAssignment } from './model.ts'
import type { RoleAssignmentBody } from './versions/2022-04-01.ts'

export type PreparedBody = RoleAssignmentBody & {
  /** The directory does not know the principal; its type is what the caller says. */
  readonly typeIsUnverified?: true
}

interface DirectoryRule {
  readonly directory: Pick<Directory, 'find'>
  readonly takesUnknownPrincipals: boolean
}

/** Of whom nothing is known: most ids that templates write out are of services. */
const assumedType = 'ServicePrincipal'

export async function askDirectory(
  { directory, takesUnknownPrincipals }: DirectoryRule,
  context: Pick<Context, 'reader'> & { readonly id: ResourceId },
  body: RoleAssignmentBody,
): Promise<PreparedBody> {
  const principalId = body.properties.principalId.toLowerCase()
  // What is no id is for the rules to refuse, with all else that is wrong.
  if (!isUuid(principalId)) return body
  const given = body.properties.principalType
  // What is stored at the id of an assignment was made by that type's `toModel`.
  const stored = (await context.reader.get(context.id))?.model as RoleAssignment | undefined
  // The type is fixed at creation, so an existing assignment outlives its principal (facts 2.5).
  if (stored?.principalId === principalId && given === undefined) return body
  const found = await directory.find(principalId)
  if (found === undefined) {
    const principalType = given ?? (takesUnknownPrincipals ? assumedType : undefined)
    if (principalType === undefined) throw refuseAuthorization.PrincipalNotFound({ principalId })
    return { ...body, properties: { ...body.properties, principalType }, typeIsUnverified: true }
  }
  if (given !== undefined && given !== found.type) {
    throw refuseAuthorization.UnmatchedPrincipalType({ principalId, actual: found.type, given })
  }
  return { ...body, properties: { ...body.properties, principalType: found.type } }
}
