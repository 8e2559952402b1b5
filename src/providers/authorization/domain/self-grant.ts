/**
 * Who may assign roles under a condition must not be able to take the condition off. So a conditioned grant
 * never reaches an assignment of a role that can itself assign or define roles, where that assignment is the
 * caller's own or one of the caller's groups': neither to make it, nor to change or remove it. Nor does it ever
 * reach a role definition.
 */

import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Attributes, RequestFacts } from '#plane/access.ts'
import type { Roles } from './decide.ts'

interface SelfGrants {
  /** Whether this rule concerns the action (lower case). */
  concerns(action: string): boolean
  /** Whether it would widen or remove what restricts one of these principals. */
  isOne(
    action: string,
    facts: Pick<RequestFacts, 'request' | 'resource'>,
    principalIds: readonly string[],
    roles: Roles,
  ): boolean
}

export function createSelfGrants(words: VendorWords): SelfGrants {
  const type = qualify(words, 'Authorization/roleAssignments').toLowerCase()
  const definition = qualify(words, 'Authorization/roleDefinitions').toLowerCase()
  // Widening a role that one holds removes the restriction under which one got it.
  const definitions = new Set([`${definition}/write`, `${definition}/delete`])
  const powers = [`${type}/write`, `${type}/delete`, `${definition}/write`]

  function touches(
    attributes: Attributes | 'unknown',
    principalIds: readonly string[],
    roles: Roles,
  ): boolean {
    // The attributes were not read, so it cannot be ruled out.
    if (attributes === 'unknown') return true
    const principalId = attributes.get(`${type}:principalid`)
    if (typeof principalId !== 'string' || !principalIds.includes(principalId)) return false
    const roleId = attributes.get(`${type}:roledefinitionid`)
    const allows = typeof roleId === 'string' ? roles.permissionsOf(roleId)?.actions : undefined
    return allows !== undefined && powers.some(allows)
  }

  return {
    concerns: (action) =>
      action === `${type}/write` || action === `${type}/delete` || definitions.has(action),
    isOne: (action, { request, resource }, principalIds, roles) =>
      definitions.has(action) ||
      touches(request, principalIds, roles) ||
      touches(resource, principalIds, roles),
  }
}
