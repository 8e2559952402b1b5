/**
 * Answers of resources that nothing stands behind: what an expression reads of one and it does not have is invented by
 * the context, since nothing ever computes it. Remembers which values came of such answers, and nothing else.
 */

import type { ExpansionContext, Json } from './plan.ts'

interface Place {
  /** Of the resource. */
  readonly id: string
  /** In its answer, such as `properties.dnsSettings`. */
  readonly path: string
}

const places = new WeakMap<object, Place>()

/** From now on what the value lacks is invented. */
export function markOpen(value: Json, place: Place): void {
  if (typeof value !== 'object' || value === null || places.has(value)) return
  places.set(value, place)
  for (const [name, one] of Object.entries(value)) {
    markOpen(one, { id: place.id, path: `${place.path}.${name}` })
  }
}

/** Undefined where the value is of no such answer. `isHolder`: something in it is asked for next. */
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
