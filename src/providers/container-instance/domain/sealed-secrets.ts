/**
 * Takes a body apart by its schema: what may be stored and shown on one side, the values marked `writeOnly`
 * on the other, each with a place that names it. Properties the schema does not know are in neither, so
 * nothing is kept, or shown, by accident. An address of a repository is shown without its name and password; with
 * them it is a secret. No schema says so, because those of released versions do not change.
 */

import type { TSchema } from 'typebox'
import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Seal } from '#kernel/ports.ts'

interface SplitBody {
  readonly shown: unknown
  /** Plain text by place. A secret that is no text is stored as JSON. */
  readonly secrets: ReadonlyMap<string, string>
}

export function splitSecrets(schema: TSchema, value: unknown): SplitBody {
  const secrets = new Map<string, string>()
  const shown = walk(schema, value, [], secrets)
  return { shown: shown === nothing ? undefined : shown, secrets }
}

/** The place of a secret: `imageRegistryCredentials/registry.example/password`. */
export function placeOf(...parts: readonly string[]): string {
  return parts.map(escapeSegment).join('/')
}

/** Not `encodeURIComponent`, which throws on halves of surrogate pairs. */
function escapeSegment(part: string): string {
  return part.replaceAll('%', '%25').replaceAll('/', '%2F')
}

/** The last part of a place, unescaped. */
export function unescapeSegment(part: string): string {
  return part.replaceAll('%2F', '/').replaceAll('%25', '%')
}

const nothing = Symbol('nothing')

interface SchemaNode {
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
}

function walk(
  schema: TSchema | SchemaNode,
  value: unknown,
  path: readonly string[],
  secrets: Map<string, string>,
): unknown {
  // A schema is plain data; these are the members that this walk uses.
  const node = schema as SchemaNode
  if (node.writeOnly === true) {
    secrets.set(placeOf(...path), typeof value === 'string' ? value : JSON.stringify(value))
    return nothing
  }
  if (typeof value === 'string' && isRepository(path)) {
    const shown = withoutCredentials(value)
    if (shown !== value) secrets.set(placeOf(...path), value)
    return shown
  }
  const { items } = node
  if (items !== undefined && Array.isArray(value)) {
    return value.map((item, at) => walk(items, item, [...path, nameIn(item, at)], secrets))
  }
  if (!isJsonObject(value)) return value
  const values =
    node.patternProperties === undefined ? undefined : Object.values(node.patternProperties)[0]
  if (node.properties === undefined && values === undefined) return value
  const members = Object.entries(value).flatMap(([key, member]) => {
    const known = ownOf(node.properties, key) ?? values
    if (known === undefined || member === undefined) return []
    const kept = walk(known, member, [...path, key], secrets)
    return kept === nothing ? [] : [[key, kept] as const]
  })
  // It defines properties, so a key named `__proto__` stays data.
  return fromMembers(members)
}

/** The place of a volume's repository, with its credentials. */
export function repositoryPlace(volume: string): string {
  return placeOf('volumes', volume, 'gitRepo', 'repository')
}

function isRepository([list, , source, member, ...more]: readonly string[]): boolean {
  return list === 'volumes' && source === 'gitRepo' && member === 'repository' && more.length === 0
}

/** The same text where an address has neither name nor password, or is none. */
export function withoutCredentials(address: string): string {
  const url = URL.parse(address)
  if (url === null || (url.username === '' && url.password === '')) return address
  url.username = ''
  url.password = ''
  return url.href
}

function ownOf(properties: SchemaNode['properties'], key: string): SchemaNode | undefined {
  return properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined
}

/** Items are identified by name, so that a secret keeps its place when others are inserted before it. */
function nameIn(item: unknown, at: number): string {
  if (!isJsonObject(item)) return String(at)
  const name = item['name'] ?? item['server']
  return typeof name === 'string' ? name : String(at)
}

/** Sealed texts by place. */
export type SealedSecrets = Readonly<Record<string, string>>

/** Seals each secret, and keeps the existing sealed text when it opens to the same value. */
export function sealSecrets(
  seal: Seal,
  owner: string,
  secrets: ReadonlyMap<string, string>,
  previous: SealedSecrets | undefined,
): SealedSecrets {
  return Object.fromEntries(
    [...secrets].map(([place, text]) => {
      const kept =
        previous !== undefined && Object.hasOwn(previous, place) ? previous[place] : undefined
      const same = kept !== undefined && seal.open(kept, contextOf(owner, place)) === text
      return [place, same ? kept : seal.seal(text, contextOf(owner, place))]
    }),
  )
}

/** The plain text at a place; undefined when there is none, or none that this installation can open. */
export function openSecret(
  seal: Seal,
  owner: string,
  deps: SealedSecrets,
  place: string,
): string | undefined {
  const sealed = Object.hasOwn(deps, place) ? deps[place] : undefined
  return sealed === undefined ? undefined : seal.open(sealed, contextOf(owner, place))
}

/** Bound to the resource and the place: a sealed text copied elsewhere does not open. */
function contextOf(owner: string, place: string): string {
  return `${owner}|${place}`
}
