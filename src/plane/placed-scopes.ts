/**
 * Scopes whose parent is stored and does not follow from their path: management groups, and the subscriptions in
 * them. Access decisions use this to find the further scopes above a scope; no other part of the plane needs it.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { Resource } from './declare/resource.ts'

/** The key of a scope, and the key of its parent scope. */
export interface Placement {
  readonly scope: string
  readonly within: string
}

export interface PlacedScopes {
  /** The types whose resources place scopes. Each appends its changes to the feed of rights. */
  readonly types: readonly string[]
  /** The key of the default parent, for scopes that nothing places. Its own parent is the root. */
  readonly outermost: string
  /** Undefined for resources of other types. */
  placementOf(resource: Resource): Placement | undefined
  /** The key of the first scope of an id, if that scope can be placed. */
  headOf(id: ResourceId): string | undefined
}

/**
 * The scopes above a scope by placement, outermost first, without the root and the scope itself. Returns all of them
 * at any depth, since a deny assignment may be at the outermost. A cycle, which no write can make, ends where it
 * began.
 */
export function placesAbove(
  scopes: PlacedScopes | undefined,
  within: (scope: string) => string | undefined,
  id: ResourceId,
): readonly string[] {
  const head = scopes?.headOf(id)
  if (scopes === undefined || head === undefined || head === scopes.outermost) return []
  let at = within(head)
  // Most scopes are placed by nothing.
  if (at === undefined || at === scopes.outermost) return [scopes.outermost]
  const above = new Set<string>()
  while (at !== undefined && at !== scopes.outermost && !above.has(at)) {
    above.add(at)
    at = within(at)
  }
  return [scopes.outermost, ...[...above].reverse()]
}
