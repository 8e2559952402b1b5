/**
 * Copies a value from outside into objects without a prototype, and refuses a value that is too deep or too large.
 */

import { objectOf } from './fields.ts'
import { jsonLimits } from './json.ts'
import type { Json } from './plan.ts'

type Adopted =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string }

/** The value came from a JSON parser, so it has no cycles. Anything JSON does not have becomes null. */
export function adopt(value: unknown): Adopted {
  const state = { characters: 0, isTooDeep: false }
  const made = take(value, 0, state)
  if (state.isTooDeep) return { ok: false, message: `JSON nests at most ${jsonLimits.depth} deep` }
  if (state.characters > jsonLimits.characters) {
    return { ok: false, message: `a template has at most ${jsonLimits.characters} characters` }
  }
  return { ok: true, value: made }
}

function take(
  value: unknown,
  depth: number,
  state: { characters: number; isTooDeep: boolean },
): Json {
  if (depth > jsonLimits.depth) state.isTooDeep = true
  if (state.isTooDeep || state.characters > jsonLimits.characters) return null
  state.characters += 2
  if (typeof value === 'string') {
    state.characters += value.length
    return value
  }
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return value as Json
  if (Array.isArray(value)) return value.map((one: unknown) => take(one, depth + 1, state))
  if (typeof value !== 'object' || value === null) return null
  const entries = Object.entries(value).map(([name, one]: [string, unknown]) => {
    state.characters += name.length + 2
    return [name, take(one, depth + 1, state)] as const
  })
  return objectOf(entries)
}
