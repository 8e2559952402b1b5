/** What a reconciler is given of a resource, and the name under which its engine knows it. */

import { createHash } from 'node:crypto'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Subject } from './declare/reconciled.ts'
import type { PlaneDependencies } from './dependencies.ts'
import type { StoredResource } from './document.ts'

export function subjectOf(
  deps: PlaneDependencies,
  resource: StoredResource,
): Subject<unknown, unknown> {
  return {
    id: resource.id,
    desired: resource.deleting ? undefined : resource.model,
    model: resource.model,
    location: resource.location,
    tags: resource.tags,
    last: resource.observed,
    generation: resource.generation,
    token: tokenOf(resource.id, resource.systemData.createdAt),
    state: resource.state,
    now: deps.clock.now(),
    log: deps.log,
  }
}

/**
 * The engine's name for a resource: stable for its whole life, and different after it was deleted and created again.
 */
export function tokenOf(id: ResourceId, createdAt: string): string {
  return createHash('sha256').update(`${id.key}\n${createdAt}`).digest('hex').slice(0, 26)
}
