/**
 * Scopes that lie in others by what is stored, and not by their path: management groups, and the subscriptions in them.
 * Whoever answers "may they?" asks here what a scope lies in besides; nothing else in the plane needs to know.
 */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { Resource } from './declare/resource.ts'

/** The key of a scope, and of the one that it lies in. */
export interface Placement {
  readonly scope: string
  readonly within: string
}

export interface PlacedScopes {
  /** Types whose resources say where a scope lies. Each appends its changes to the feed of rights. */
  readonly types: readonly string[]
  /** The key of the scope that holds every one that is placed nowhere. It lies in the root itself. */
  readonly outermost: string
  /** Undefined for what is no resource of those types. */
  placementOf(resource: Resource): Placement | undefined
  /** The key of the scope at the head of an id, where that is one which can be placed. */
  headOf(id: ResourceId): string | undefined
}

/**
 * What a scope lies in by placements, outermost first, without the root and without itself. All of it, however deep a store
 * has it: what forbids may stand at the outermost. A circle, which no write can make, ends where it began.
 */
export function placesAbove(
  scopes: PlacedScopes | undefined,
  within: (scope: string) => string | undefined,
  id: ResourceId,
): readonly string[] {
  const head = scopes?.headOf(id)
  if (scopes === undefined || head === undefined || head === scopes.outermost) return []
  const above = new Set<string>()
  let at = within(head)
  while (at !== undefined && at !== scopes.outermost && !above.has(at)) {
    above.add(at)
    at = within(at)
  }
  return [scopes.outermost, ...[...above].reverse()]
}
