/**
 * Which scope lies in which: groups in groups, subscriptions in groups, everything else in the tenant's own group. Says
 * so to the authorizer, and asks for the rights that a move takes.
 */

import { refuse } from '#kernel/error.ts'
import {
  fromSegments,
  nameOf,
  parentOf,
  type ResourceId,
  subscriptionIdOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Context, Reader } from '#plane/declare/resource.ts'
import type { PlacedScopes } from '#plane/placed-scopes.ts'
import type { ManagementGroup } from '../resources/management-groups/model.ts'

export const types = {
  groups: 'Management/managementGroups',
  subscriptions: 'Management/managementGroups/subscriptions',
} as const

export const groupName = /^[\w().-]{0,89}[\w()-]$/
export const groupNameRule = '1 to 90 letters, digits, or any of "-_.()", not ending in a period'

/** Below the group of the tenant, as published. */
export const depthMax = 6

export function groupIdOf(words: VendorWords, name: string): ResourceId {
  const namespace = qualify(words, 'Management')
  return fromSegments([{ namespace, types: ['managementGroups'], names: [name] }])
}

export function placedScopes(words: VendorWords, tenantId: string): PlacedScopes {
  const outermost = groupIdOf(words, tenantId).key
  const prefix = groupIdOf(words, '').key
  return {
    types: [types.groups, types.subscriptions],
    outermost,
    placementOf({ id, model }) {
      const last = id.segments.at(-1)
      if (!id.key.startsWith(prefix) || last === undefined || id.segments.length > 1)
        return undefined
      if (last.types.length === 2) {
        return { scope: subscriptionIdOf(nameOf(id)).key, within: parentOf(id).key }
      }
      // Rows at ids of that form were made by the `toModel` of groups.
      const { parent } = model as ManagementGroup
      return { scope: id.key, within: parent === undefined ? outermost : prefix + parent }
    },
    headOf(id) {
      const subscription = subscriptionOf(id)
      if (subscription !== undefined) return subscriptionIdOf(subscription).key
      const [first] = id.segments
      const key = first === undefined ? '' : fromSegments([first]).key
      if (!key.startsWith(prefix)) return undefined
      return groupIdOf(words, first?.names[0] ?? '').key
    },
  }
}

/** The name of the group that a group lies in, in lower case; undefined at the group of the tenant. */
export async function parentNameOf(
  reader: Pick<Reader, 'get'>,
  words: VendorWords,
  name: string,
): Promise<string | undefined> {
  const found = await reader.get(groupIdOf(words, name))
  // Rows of this type were made by its `toModel`.
  return (found?.model as ManagementGroup | undefined)?.parent
}

/** The name of the group that each group lies in; what lies in the group of the tenant is left out. */
export async function parentNames(
  reader: Pick<Reader, 'each'>,
): Promise<ReadonlyMap<string, string>> {
  const parents = new Map<string, string>()
  for await (const { id, model } of reader.each({ type: types.groups, under: '/' })) {
    // Rows of this type were made by its `toModel`.
    const { parent } = model as ManagementGroup
    if (parent !== undefined) parents.set(nameOf(id).toLowerCase(), parent)
  }
  return parents
}

/** How many levels a group and what lies in it take; a group that holds none takes one. */
export function levelsOf(own: string, parents: ReadonlyMap<string, string>): number {
  let within = new Set([own])
  let levels = 0
  for (; within.size > 0 && levels <= depthMax; levels++) {
    const above = within
    within = new Set([...parents].flatMap(([name, parent]) => (above.has(parent) ? [name] : [])))
  }
  return levels
}

/** Throws what a direct request for that action would meet. */
export async function requireRight(
  { principal, words, may }: Pick<Context, 'principal' | 'words' | 'may'>,
  action: string,
  scope: ResourceId,
): Promise<void> {
  if (await may(action, scope)) return
  throw refuse.AuthorizationFailed({
    client: principal.id,
    principalId: principal.id,
    action: qualify(words, action),
    scope: scope.text,
  })
}
