/**
 * Reads values from another program's JSON without trusting its shape: anything unexpected reads as absent. It
 * never throws.
 */

export type Json = unknown

/** The value at a path of keys; undefined where the path ends early. */
export function at(value: Json, ...keys: readonly string[]): Json {
  let current = value
  for (const key of keys) {
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, key)) {
      return undefined
    }
    // An object that owns `key` may be read by it.
    current = (current as Readonly<Record<string, unknown>>)[key]
  }
  return current
}

export function textAt(value: Json, ...keys: readonly string[]): string {
  const found = at(value, ...keys)
  return typeof found === 'string' ? found : ''
}

export function numberAt(value: Json, ...keys: readonly string[]): number {
  const found = at(value, ...keys)
  return typeof found === 'number' ? found : 0
}

export function booleanAt(value: Json, ...keys: readonly string[]): boolean {
  return at(value, ...keys) === true
}

export function listAt(value: Json, ...keys: readonly string[]): readonly Json[] {
  const found = at(value, ...keys)
  return Array.isArray(found) ? found : []
}

export function entriesAt(value: Json, ...keys: readonly string[]): readonly [string, Json][] {
  const found = at(value, ...keys)
  return found !== null && typeof found === 'object' ? Object.entries(found) : []
}

/** Milliseconds of an RFC 3339 time; undefined for the engine's "never" (year 1) and for a missing time. */
export function timeAt(value: Json, ...keys: readonly string[]): number | undefined {
  const found = Date.parse(textAt(value, ...keys))
  return Number.isNaN(found) || found <= 0 ? undefined : found
}

/** The value of JSON text, or undefined where it is none. */
export function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // Text that is no JSON has nothing to read.
    return undefined
  }
}
