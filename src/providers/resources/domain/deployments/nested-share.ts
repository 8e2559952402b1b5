/**
 * How many resources a deployment may have with everything nested in it. What is left beside its own is shared out
 * evenly among those nested directly in it, so each knows its bound before it is begun, and a nest ends.
 */

import { refuseDeployment } from '../../errors.ts'

/** With everything nested, at any depth. */
export const nestResourcesMax = 10_000

/** Throws for a deployment with more resources than its share. */
export function requireShare(name: string, resources: number, share: number): void {
  if (resources <= share) return
  throw refuseDeployment.NestedResourcesExceeded({
    name,
    resources,
    share,
    limit: nestResourcesMax,
  })
}

/** The share of each deployment nested directly in one with so many resources. */
export function shareOfNested(share: number, resources: number, nested: number): number {
  return nested === 0 ? 0 : Math.max(0, Math.floor((share - resources) / nested))
}
