/**
 * Turns a body as published clients write it into the form that the type declares: words of an enumeration get their
 * declared case, and an optional property that is null is left out, since clients send back what they read. Where the
 * version says so, numbers and booleans may be written as text, and text as a number or boolean. Refuses nothing:
 * undeclared members, wrong types and unknown words are left to the check of the schema.
 */

import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject } from '#kernel/patch.ts'

/** What is corrected besides the case of words. */
interface Mending {
  readonly dropsNull: boolean
  readonly convertsScalars: boolean
}

/** For a PUT or an action, whose body is complete. */
export function canonicalBody(schema: unknown, body: unknown, scalars?: 'lenient'): unknown {
  return settled(schema, body, { dropsNull: true, convertsScalars: scalars === 'lenient' })
}

/** For a PATCH, where null does not mean absent: it removes the property. */
export function canonicalWords(schema: unknown, body: unknown): unknown {
  return settled(schema, body, { dropsNull: false, convertsScalars: false })
}

/** Returns the same value where nothing has to change. */
function settled(schema: unknown, value: unknown, mending: Mending): unknown {
  if (!isJsonObject(schema)) return value
  const one = alternativeOf(schema, value)
  if (Array.isArray(value)) return settledList(one, value, mending)
  if (isJsonObject(value)) return settledObject(one, value, mending)
  const scalar = mending.convertsScalars ? converted(one['type'], value) : value
  return typeof scalar === 'string' ? wordOf(one, scalar) : scalar
}

const numberText = /^-?\d{1,15}(\.\d{1,15})?$/

/** A scalar converted to the declared type; the value itself where the conversion is not obvious. */
function converted(type: unknown, value: unknown): unknown {
  if (typeof value === 'string') {
    if (type === 'integer' || type === 'number')
      return numberText.test(value) ? Number(value) : value
    const lower = value.toLowerCase()
    return type === 'boolean' && /^(true|false)$/.test(lower) ? lower === 'true' : value
  }
  const isPlain = typeof value === 'number' || typeof value === 'boolean'
  return type === 'string' && isPlain ? String(value) : value
}

type Schema = Readonly<Record<string, unknown>>

/** The alternative that the value is meant for, where that is obvious; otherwise the schema itself. */
function alternativeOf(schema: Schema, value: unknown): Schema {
  const alternatives = alternativesOf(schema)
  if (alternatives.length === 0 || typeof value === 'string') return schema
  const fitting = alternatives.filter((one) => one['type'] === kindOf(value))
  return fitting.length === 1 && fitting[0] !== undefined ? fitting[0] : schema
}

function alternativesOf(schema: Schema): readonly Schema[] {
  const given = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(given) ? given.filter(isJsonObject) : noAlternatives
}

const noAlternatives: readonly Schema[] = []

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value
}

/** The declared word that differs only in case, if there is exactly one. */
function wordOf(schema: Schema, value: string): string {
  const words = wordsOf(schema)
  if (words.length === 0 || words.includes(value)) return value
  const lower = value.toLowerCase()
  const alike = words.filter((word) => word.toLowerCase() === lower)
  return alike.length === 1 && alike[0] !== undefined ? alike[0] : value
}

function wordsOf(schema: Schema): readonly string[] {
  const { enum: listed, const: only } = schema
  const alternatives = alternativesOf(schema)
  // Most properties have no words: nothing is made for them.
  if (listed === undefined && only === undefined && alternatives.length === 0) return noWords
  const own = Array.isArray(listed) ? listed : [only]
  const words = own.filter((word) => typeof word === 'string')
  return [...words, ...alternatives.flatMap(wordsOf)]
}

const noWords: readonly string[] = []

function settledList(schema: Schema, value: readonly unknown[], mending: Mending): unknown {
  const next = value.map((item) => settled(schema['items'], item, mending))
  return next.every((item, at) => item === value[at]) ? value : next
}

function settledObject(schema: Schema, value: Schema, mending: Mending): unknown {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const names = Object.keys(value)
  /** The members of the result, once one of them differs. */
  let next: [string, unknown][] | undefined
  for (const [at, name] of names.entries()) {
    const member = value[name]
    const declared = Object.hasOwn(properties, name) ? properties[name] : restOf(schema)
    const isDropped =
      mending.dropsNull && member === null && !required.includes(name) && !takesNull(declared)
    const own = isDropped ? undefined : settled(declared, member, mending)
    if (own !== member) next ??= names.slice(0, at).map((before) => [before, value[before]])
    if (!isDropped) next?.push([name, own])
  }
  return next === undefined ? value : fromMembers(next)
}

/** The schema of members that the object does not name. */
function restOf(schema: Schema): unknown {
  const { additionalProperties, patternProperties } = schema
  if (isJsonObject(additionalProperties)) return additionalProperties
  const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
  return patterns.length === 1 ? patterns[0] : undefined
}

/** A schema that names no type takes anything; so does no schema. */
function takesNull(schema: unknown): boolean {
  if (!isJsonObject(schema)) return true
  const { type, enum: listed } = schema
  if (Array.isArray(listed)) return listed.includes(null)
  if (type !== undefined) return type === 'null' || (Array.isArray(type) && type.includes('null'))
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0) return alternatives.some(takesNull)
  return !Object.hasOwn(schema, 'const')
}
