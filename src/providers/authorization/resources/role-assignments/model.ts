/** A role assignment: a principal has a role at a scope and below. The scope is part of its path. */

import type { PrincipalType } from '#kernel/principal.ts'
import { parseResourceId, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { isUuid } from '#kernel/uuid.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'

export interface RoleAssignment {
  /** As in the body: a GUID in lower case. */
  readonly principalId: string
  /** The GUID of the role definition in lower case; empty while `unrecognizedRole` is set. */
  readonly roleId: string
  /** What the body contains instead of the id of a role definition. Rules refuse it, so it is never stored. */
  readonly unrecognizedRole?: string
  readonly principalType: PrincipalType
  /**
   * The body states no type, and the directory does not know the principal, or the assignment that has it was deleted
   * since. Rules refuse it, so it is never stored.
   */
  readonly missing?: 'principal' | 'assignment'
  readonly condition?: string
  readonly conditionVersion?: string
  readonly delegatedManagedIdentityResourceId?: string
  readonly description?: string
}

/**
 * The GUID in the id of a role definition, whatever scope it is written with (contract, role assignment);
 * `undefined` for anything else.
 */
export function roleIdIn(text: string, words: VendorWords): string | undefined {
  const last = parseResourceId(text)?.segments.at(-1)
  const [type, nested] = last?.types ?? []
  const name = last?.names[0]
  if (last?.namespace === undefined || type === undefined || name === undefined) return undefined
  if (nested !== undefined || type.toLowerCase() !== 'roledefinitions') return undefined
  if (last.namespace.toLowerCase() !== qualify(words, 'Authorization').toLowerCase())
    return undefined
  return isUuid(name) ? name.toLowerCase() : undefined
}

/** Principal, role and scope together are unique. */
export function assignmentUniqueKey(id: ResourceId, assignment: RoleAssignment): string {
  return `authorization/assignment/${assignment.principalId}/${assignment.roleId}${scopeOf(id).key}`
}
