/**
 * Secrets that a type keeps from one write to the next. A secret that was given for one receiver is never sent to
 * another: a write that changes the receiver must give the secret again, or is refused. And no write reveals whether
 * a given secret equals the kept one.
 */

import type { TSchema } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { isJsonObject, sameJson } from '#kernel/patch.ts'

/** A secret that is kept when a body leaves it out. */
interface KeptSecret<M> {
  /** Its path in bodies of every version: `properties.administratorLoginPassword`. */
  readonly property: string
  /** Everything that decides where and how it is sent. Undefined where the model keeps no such secret. */
  receiver(model: M): unknown
  /** For a secret with several possible places: whether this model uses this one. */
  isAt?(model: M): boolean
}

/** Declared by every type whose bodies carry values marked `writeOnly`. */
export type SecretsOfType<M> =
  /** A body that leaves out the secret loses it: nothing is kept that could go elsewhere. */
  | 'in-every-body'
  /** Kept, but never sent anywhere. */
  | 'sent-nowhere'
  /** Not kept at all, so no write can reveal anything about it. */
  | 'not-kept'
  | readonly KeptSecret<M>[]

interface SchemaNode {
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
  readonly allOf?: readonly SchemaNode[]
}

const anyElement = '*'
const known = new WeakMap<TSchema, readonly string[]>()

/** The values that a schema marks `writeOnly`: `properties.containers.*.secureValue`. */
export function writeOnlyProperties(schema: TSchema): readonly string[] {
  const before = known.get(schema)
  if (before !== undefined) return before
  const found = new Set<string>()
  const walk = (node: SchemaNode, path: readonly string[]): void => {
    if (node.writeOnly === true) {
      found.add(path.join('.'))
      return
    }
    for (const [name, one] of Object.entries(node.properties ?? {})) walk(one, [...path, name])
    for (const one of Object.values(node.patternProperties ?? {})) walk(one, [...path, anyElement])
    if (node.items !== undefined) walk(node.items, [...path, anyElement])
    for (const one of [...(node.anyOf ?? []), ...(node.allOf ?? [])]) walk(one, path)
  }
  // A schema is plain data; this type names the members that this walk reads.
  walk(schema as SchemaNode, [])
  const properties = [...found]
  known.set(schema, properties)
  return properties
}

/** Whether there is a value at the path, in any case of its names. Empty text and null do not count. */
function isGiven(body: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return body !== undefined && body !== null && body !== ''
  if (first === anyElement) {
    const elements = Array.isArray(body) ? body : isJsonObject(body) ? Object.values(body) : []
    return elements.some((one) => isGiven(one, rest))
  }
  if (!isJsonObject(body)) return false
  if (Object.hasOwn(body, first) && isGiven(body[first], rest)) return true
  // Some types accept names in any case: members of a map that they read themselves.
  const lower = first.toLowerCase()
  return Object.keys(body).some(
    (name) => name !== first && name.toLowerCase() === lower && isGiven(body[name], rest),
  )
}

/** Whether the body gives any secret of the type. False where the `desired` model keeps none. */
export function givesSecret<M>(
  declared: SecretsOfType<M> | undefined,
  schema: TSchema,
  body: unknown,
  desired?: M,
): boolean {
  if (declared === 'not-kept') return false
  const known = typeof declared === 'object' ? declared : []
  const kept = known.filter((one) => desired === undefined || one.receiver(desired) !== undefined)
  const paths = [...writeOnlyProperties(schema), ...kept.map(({ property }) => property)]
  const dropped = new Set(
    known.filter((one) => !kept.includes(one)).map(({ property }) => property),
  )
  for (const { property } of kept) dropped.delete(property)
  return paths.some((path) => !dropped.has(path) && isGiven(body, path.split('.')))
}

/**
 * Compares names exactly, as the type does. A differently spelled name would be ignored, and the kept secret would
 * stay.
 */
function isGivenExactly(body: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return isGiven(body, [])
  if (first === anyElement) {
    const elements = Array.isArray(body) ? body : isJsonObject(body) ? Object.values(body) : []
    return elements.some((one) => isGivenExactly(one, rest))
  }
  return isJsonObject(body) && Object.hasOwn(body, first) && isGivenExactly(body[first], rest)
}

/** Problems for secrets that would go to another receiver than they were given for. */
export function receiverProblems<M>(
  declared: SecretsOfType<M> | undefined,
  previous: M | undefined,
  desired: M,
  body: unknown,
): readonly Problem[] {
  if (typeof declared !== 'object' || previous === undefined) return []
  return declared.flatMap((secret) => {
    if (secret.isAt?.(desired) === false) return []
    if (isGivenExactly(body, secret.property.split('.'))) return []
    const [before, after] = [secret.receiver(previous), secret.receiver(desired)]
    if (before === undefined || after === undefined || sameJson(before, after)) return []
    const message =
      'is required again, because what decides who receives it changes: a stored secret stays with the receiver it was given for'
    return [{ path: secret.property, message }]
  })
}
