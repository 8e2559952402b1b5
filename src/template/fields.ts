/** Looks members of the template's own syntax up, without regard to case. It is not for the author's data. */

import type { Json, JsonObject } from './plan.ts'
import type { Problems } from './problems.ts'
import { childPath, type TemplatePath } from './template-path.ts'

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** What a value is called in messages. */
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

/** The member as it is spelled, else the first that differs in case only. */
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

/** Members of a section, none without its place. A section that is no object is a problem, once. */
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

/** Names that differ in case only are one name to expressions, so the second is a problem. */
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

/** A whole number within bounds, or a problem. */
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

/** An object without a prototype of these members. */
export function objectOf(entries: Iterable<readonly [string, Json]>): JsonObject {
  const made: Record<string, Json> = Object.create(null)
  for (const [name, value] of entries) made[name] = value
  return made
}
