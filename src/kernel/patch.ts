/** JSON merge patch (RFC 7396) on parsed JSON. */

import { fromMembers } from './named-members.ts'

/** A JSON object: string keys; inherited properties do not count. */
export type JsonObject = { readonly [key: string]: unknown }

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns `target` with `patch` merged in. Neither is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const merged = new Map<string, unknown>(isJsonObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, mergePatch(merged.get(key), value))
  }
  // It defines properties, so a key named `__proto__` stays data.
  return fromMembers(merged)
}

/** Whether two JSON values are equal. The order of properties does not matter; a missing property is not `null`. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => sameJson(item, b[at]))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  let members = 0
  for (const key in a) {
    if (!Object.hasOwn(a, key) || a[key] === undefined) continue
    if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false
    members++
  }
  for (const key in b) if (Object.hasOwn(b, key) && b[key] !== undefined) members--
  return members === 0
}
