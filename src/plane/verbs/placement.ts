/** What a write gives the envelope: where the resource lies by the rule of its type, and what state it is in. */

import { refuse } from '#kernel/error.ts'
import { sameJson } from '#kernel/patch.ts'
import { nameOf, type ResourceId, resourceGroupOf } from '#kernel/resource-id.ts'
import { isLongRunning, type ResourceType } from '../define.ts'
import type { StoredResource } from '../document.ts'
import type { CompiledType } from '../registry.ts'

/** What a body asks for, before rules have seen it. */
export interface Desired {
  readonly model: unknown
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
}

/** Location by the type's rule; it compares without case and blanks, and never changes (facts 9.2). */
export function placed(
  compiled: CompiledType,
  id: ResourceId,
  desired: Desired,
  current: StoredResource | undefined,
  scope: StoredResource | undefined,
): Desired {
  if (!compiled.declaration.tracked) return { ...desired, location: undefined, tags: undefined }
  const { location } = desired
  if (current !== undefined) {
    if (location !== undefined && !sameLocation(location, current.location)) {
      throw (
        compiled.declaration.locationRefusal?.(current, location) ??
        refuse.InvalidResourceLocation({
          name: nameOf(id),
          existing: current.location ?? '',
          location,
        })
      )
    }
    return { ...desired, location: current.location }
  }
  if (location !== undefined && location.trim() !== '') return desired
  if (compiled.declaration.location !== 'optional')
    throw refuse.LocationRequired({}, { target: 'location' })
  return { ...desired, location: scope?.location ?? defaultLocation(id) }
}

export function defaultLocation(id: ResourceId): string {
  return resourceGroupOf(id) === undefined ? 'global' : 'local'
}

export function sameLocation(a: string | undefined, b: string | undefined): boolean {
  const plain = (text: string): string => text.replace(/\s/g, '').toLowerCase()
  return plain(a ?? '') === plain(b ?? '')
}

/** A change of tags alone gives the engine nothing to do. */
export function stateAfter(
  declaration: ResourceType,
  current: StoredResource | undefined,
  desired: Desired,
): string {
  const { reconcile } = declaration
  if (reconcile === undefined || !isLongRunning(declaration)) return 'Succeeded'
  if (current === undefined) return reconcile.states.creating
  const needsWork = current.state !== 'Succeeded' || !sameJson(current.model, desired.model)
  return needsWork ? reconcile.states.updating : current.state
}
