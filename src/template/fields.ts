/** Reads members of the template's own syntax without regard to case. Not for the author's data. */

import type { Json, JsonObject } from './plan.ts'
import type { Problems } from './problems.ts'
import { childPath, type TemplatePath } from './template-path.ts'

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** The name of a value's kind in messages. */
export function kindOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'bigint') return 'an integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export interface Field {
  readonly value: Json
  readonly path: TemplatePath
}

/** The member with this spelling, else the first that differs only in case. */
export function fieldOf(
  object: JsonObject,
  path: TemplatePath | undefined,
  name: string,
): Field | undefined {
  const key = keyOf(object, name)
  const value = key === undefined ? undefined : object[key]
  if (key === undefined || value === undefined) return undefined
  return { value, path: childPath(path, key) }
}

function keyOf(object: JsonObject, name: string): string | undefined {
  if (Object.hasOwn(object, name)) return name
  const lower = name.toLowerCase()
  return Object.keys(object).find((key) => key.toLowerCase() === lower)
}

/** The members of a section; none when it is missing. A section that is no object is one problem. */
export function membersOf(
  section: Field | undefined,
  what: string,
  problems: Problems,
): readonly (readonly [name: string, field: Field])[] {
  if (section === undefined || section.value === null) return []
  if (!isObject(section.value)) {
    problems.add(section.path, `${what} has to be an object, not ${kindOf(section.value)}`)
    return []
  }
  return Object.entries(section.value).map(([name, value]) => [
    name,
    { value, path: childPath(section.path, name) },
  ])
}

/** Names that differ only in case are the same name to expressions, so the second one is a problem. */
export function refuseTwice(
  members: readonly (readonly [name: string, field: Field])[],
  what: string,
  problems: Problems,
): void {
  const seen = new Set<string>()
  for (const [name, { path }] of members) {
    const lower = name.toLowerCase()
    if (seen.has(lower)) problems.add(path, `${what} '${name}' is declared twice`)
    seen.add(lower)
  }
}

/** A whole number within bounds; anything else is a problem. */
export function countIn(
  field: Field | undefined,
  least: number,
  most: number,
  problems: Problems,
): number | undefined {
  if (field === undefined) return undefined
  const { value } = field
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) {
    return value
  }
  problems.add(field.path, `expected an integer from ${least} to ${most}`)
  return undefined
}

/** An object of these members, without a prototype. */
export function objectOf(entries: Iterable<readonly [string, Json]>): JsonObject {
  const made: Record<string, Json> = Object.create(null)
  for (const [name, value] of entries) made[name] = value
  return made
}
