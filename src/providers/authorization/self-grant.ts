/**
 * Who may assign roles under a condition must not be able to take the condition off. So a conditioned grant
 * never reaches an assignment of a role that can itself assign or define roles, where that assignment is the
 * caller's own or one of the caller's groups': neither to make it, nor to change or remove it.
 */

import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Attributes, RequestFacts } from '#plane/access.ts'
import type { Roles } from './decide.ts'

export interface SelfGrants {
  /** Is the action (lower case) one that this rule looks at? */
  concerns(action: string): boolean
  /** Would it widen, or take off, what binds one of these principals? */
  isOne(
    facts: Pick<RequestFacts, 'request' | 'resource'>,
    principalIds: readonly string[],
    roles: Roles,
  ): boolean
}

export function createSelfGrants(words: VendorWords): SelfGrants {
  const type = qualify(words, 'Authorization/roleAssignments').toLowerCase()
  const powers = [
    `${type}/write`,
    `${type}/delete`,
    qualify(words, 'Authorization/roleDefinitions/write').toLowerCase(),
  ]

  function touches(
    attributes: Attributes | 'unknown',
    principalIds: readonly string[],
    roles: Roles,
  ): boolean {
    // Nobody has looked: it cannot be ruled out.
    if (attributes === 'unknown') return true
    const principalId = attributes.get(`${type}:principalid`)
    if (typeof principalId !== 'string' || !principalIds.includes(principalId)) return false
    const roleId = attributes.get(`${type}:roledefinitionid`)
    const allows = typeof roleId === 'string' ? roles.permissionsOf(roleId) : undefined
    return allows !== undefined && powers.some(allows)
  }

  return {
    concerns: (action) => action === `${type}/write` || action === `${type}/delete`,
    isOne: ({ request, resource }, principalIds, roles) =>
      touches(request, principalIds, roles) || touches(resource, principalIds, roles),
  }
}
