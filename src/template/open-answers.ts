/**
 * Answers of generic resources, which nothing computes. When an expression reads a property that such an answer
 * lacks, the context invents it. This file remembers which values came from such answers.
 */

import type { ExpansionContext, Json } from './plan.ts'

interface Place {
  /** The id of the resource. */
  readonly id: string
  /** The path in its answer, such as `properties.dnsSettings`. */
  readonly path: string
}

const places = new WeakMap<object, Place>()

/** Marks the value: properties it lacks are invented from now on. */
export function markOpen(value: Json, place: Place): void {
  if (typeof value !== 'object' || value === null || places.has(value)) return
  places.set(value, place)
  for (const [name, one] of Object.entries(value)) {
    markOpen(one, { id: place.id, path: `${place.path}.${name}` })
  }
}

/** Undefined when the value is not from such an answer. `isHolder`: a member of it is read next. */
export function inventedMember(
  of: object,
  name: string | number,
  isHolder: boolean,
  context: ExpansionContext,
): Json | undefined {
  const at = places.get(of)
  if (at === undefined || context.invented === undefined) return undefined
  const place = { id: at.id, path: `${at.path}.${name}` }
  if (!isHolder) return context.invented(place.id, place.path)
  const holder: Json = {}
  markOpen(holder, place)
  return holder
}
