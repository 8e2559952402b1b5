/** Completes the envelope of a write: the location by the type's rule, and the state. */

import { refuse } from '#kernel/error.ts'
import { sameJson } from '#kernel/patch.ts'
import { nameOf, type ResourceId, resourceGroupOf } from '#kernel/resource-id.ts'
import { type CompiledStoredType, isLongRunning } from '../compiled-type.ts'
import type { StoredResource } from '../document.ts'

/** What a body asks for, before rules have checked it. */
export interface Desired {
  readonly model: unknown
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
}

interface Placing {
  readonly compiled: CompiledStoredType
  readonly id: ResourceId
  readonly current: StoredResource | undefined
  /** The innermost scope of the resource. */
  readonly scope: StoredResource | undefined
}

/** The location by the type's rule. It compares without case and blanks, and never changes (facts 9.2). */
export function withLocation({ compiled, id, current, scope }: Placing, desired: Desired): Desired {
  const { tracked } = compiled.stored
  if (tracked === undefined) return { ...desired, location: undefined, tags: undefined }
  const { location } = desired
  if (current !== undefined) {
    if (location !== undefined && !sameLocation(location, current.location)) {
      if (tracked.location === 'as-given' && current.location === undefined) return desired
      throw (
        tracked.refuseMove?.(current, location) ??
        refuse.InvalidResourceLocation({
          name: nameOf(id),
          existing: current.location ?? '',
          location: location.slice(0, shownMax),
        })
      )
    }
    return { ...desired, location: current.location }
  }
  if (location !== undefined && location.trim() !== '') return desired
  if (tracked.location === 'required') throw refuse.LocationRequired({}, { target: 'location' })
  if (tracked.location === 'as-given' && !liesInGroup(id))
    return { ...desired, location: undefined }
  return { ...desired, location: scope?.location ?? defaultLocation(id) }
}

/** Characters of a caller's text that a refusal repeats. */
const shownMax = 100

export function defaultLocation(id: ResourceId): string {
  return resourceGroupOf(id) === undefined ? 'global' : 'local'
}

/** True for a resource directly in a group: neither a child nor an extension of another resource. */
function liesInGroup({ segments: [scope, own, ...rest] }: ResourceId): boolean {
  return scope?.types.length === 2 && own?.types.length === 1 && rest.length === 0
}

function sameLocation(a: string | undefined, b: string | undefined): boolean {
  const plain = (text: string): string => text.replace(/\s/g, '').toLowerCase()
  return plain(a ?? '') === plain(b ?? '')
}

/** A change of tags alone gives the engine nothing to do. */
export function provisioningStateAfter(
  compiled: CompiledStoredType,
  current: StoredResource | undefined,
  desired: Desired,
): string {
  const { reconcile } = compiled
  if (reconcile === undefined || !isLongRunning(compiled)) return 'Succeeded'
  if (current === undefined) return reconcile.states.creating
  const needsWork = current.state !== 'Succeeded' || !sameJson(current.model, desired.model)
  return needsWork ? reconcile.states.updating : current.state
}
