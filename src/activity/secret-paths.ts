/**
 * Finds where the schema of a body has secrets: properties marked `writeOnly`. A schema is read once; a body is
 * then searched in those places only.
 */

import { fromMembers } from '#kernel/named-members.ts'

/** Names of properties from the root. `*` is any item of a list or any member of a map. */
export type SecretPath = readonly string[]

interface Node {
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: Node | boolean
  readonly items?: Node | readonly Node[]
  readonly anyOf?: readonly Node[]
  readonly oneOf?: readonly Node[]
  readonly allOf?: readonly Node[]
}

const depthMax = 24

export function secretPathsOf(schema: object): readonly SecretPath[] {
  const found = new Map<string, SecretPath>()
  walk(schema, [], found)
  return [...found.values()]
}

function walk(node: Node, path: SecretPath, found: Map<string, SecretPath>): void {
  if (path.length > depthMax) return
  if (node.writeOnly === true) {
    found.set(path.join('\n'), path)
    return
  }
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    walk(child, [...path, name], found)
  }
  for (const child of Object.values(node.patternProperties ?? {}))
    walk(child, [...path, '*'], found)
  if (typeof node.additionalProperties === 'object') {
    walk(node.additionalProperties, [...path, '*'], found)
  }
  for (const child of [node.items ?? []].flat() as readonly Node[])
    walk(child, [...path, '*'], found)
  for (const child of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) {
    walk(child, path, found)
  }
}

/** Whether this place, or a place that contains it, is a secret. Items of lists are written `[0]`. */
export function isMasked(secrets: readonly SecretPath[], path: readonly string[]): boolean {
  return secrets.some(
    (secret) =>
      secret.length <= path.length &&
      secret.every((name, at) => name === '*' || name.toLowerCase() === path[at]?.toLowerCase()),
  )
}

const mask = '*****'

/** The value with all secrets masked. */
export function maskSecrets(secrets: readonly SecretPath[], value: unknown): unknown {
  return secrets.length === 0 ? value : masked(secrets, value, [])
}

function masked(secrets: readonly SecretPath[], value: unknown, path: readonly string[]): unknown {
  if (path.length > 0 && isMasked(secrets, path)) return mask
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.map((item, at) => masked(secrets, item, [...path, String(at)]))
  }
  const members = Object.entries(value)
  return fromMembers(
    members.map(([name, member]) => [name, masked(secrets, member, [...path, name])]),
  )
}

/**
 * What was given, with every value masked that the answer does not show at the same place. Case, blanks and the
 * order of list items are ignored, because an answer may change them.
 */
export function maskUnlessShown(given: unknown, shown: unknown): unknown {
  if (Array.isArray(given)) {
    const items: readonly unknown[] = Array.isArray(shown) ? shown : []
    const texts = new Set(items.map(plainText))
    return given.map((item, at) => {
      const text = plainText(item)
      return text !== undefined && texts.has(text) ? item : maskUnlessShown(item, items[at])
    })
  }
  if (typeof given === 'object' && given !== null) {
    const members = new Map(
      typeof shown === 'object' && shown !== null
        ? Object.entries(shown).map(([name, member]) => [name.toLowerCase(), member])
        : [],
    )
    return fromMembers(
      Object.entries(given).map(([name, member]) => [
        name,
        maskUnlessShown(member, members.get(name.toLowerCase())),
      ]),
    )
  }
  const isOpen = given === null || typeof given === 'boolean'
  return isOpen || plainText(given) === plainText(shown) ? given : mask
}

function plainText(value: unknown): string | undefined {
  return value === undefined || typeof value === 'object'
    ? undefined
    : String(value).replaceAll(/\s/g, '').toLowerCase()
}

const givenMax = 60

/** The paths in the body where a secret was given. */
export function secretsInBody(secrets: readonly SecretPath[], body: unknown): readonly string[] {
  const found: string[] = []
  for (const secret of secrets) collectSecrets({ secret, at: 0 }, body, '', found)
  return found
}

function collectSecrets(
  { secret, at }: { readonly secret: SecretPath; readonly at: number },
  value: unknown,
  path: string,
  found: string[],
): void {
  if (value === undefined || value === null || found.length >= givenMax) return
  const name = secret[at]
  if (name === undefined) {
    found.push(path.slice(0, 512))
    return
  }
  if (typeof value !== 'object') return
  const isList = Array.isArray(value)
  for (const [key, member] of Object.entries(value)) {
    if (name !== '*' && name !== key) continue
    const next = isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    collectSecrets({ secret, at: at + 1 }, member, next, found)
  }
}
