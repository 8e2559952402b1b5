/**
 * The stored model of a generic resource: its body without the envelope and without read-only properties. This file
 * also makes the body that a reader sees. Secrets of a body are never stored.
 */

import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject, type JsonObject, sameJson } from '#kernel/patch.ts'
import { nameOf, parseResourceId } from '#kernel/resource-id.ts'
import type { ComputedProperty } from './computed-properties.ts'
import { computedProperties, hiddenProperties, secretName } from './computed-properties.ts'
import { type Filling, fill, memberAt } from './fill.ts'

export interface GenericDocument {
  readonly body: JsonObject
  /** Sealed. The keys that the resource's `list…` actions answer are derived from it. */
  readonly seed: string
  /** The seal is bound to this value. */
  readonly place: string
}

/** Members of a body that belong to the envelope, or that say how a template deploys the resource. */
const notKept = new Set([
  'id',
  'name',
  'type',
  'location',
  'tags',
  'systemdata',
  'etag',
  'apiversion',
  'dependson',
  // The state of the resource itself, which answers show in `properties`.
  'provisioningstate',
  'state',
])

/** The type without the first word of the namespace. */
export function shortType(fullType: string): string {
  return fullType.slice(fullType.indexOf('.') + 1)
}

/** The part of a body that is stored: no envelope, no secret, no property that the plane sets. */
export function keptBody(body: JsonObject, type: string): JsonObject {
  const hidden = hiddenPaths(shortType(type).toLowerCase())
  const kept = Object.entries(body).filter(
    ([name]) => !notKept.has(name.toLowerCase()) && !name.startsWith(ownMark),
  )
  return withoutOwn(withoutSecrets(fromMembers(kept), hidden) as JsonObject)
}

/** The hidden properties of a type, and those of its child types in the lists of its body. */
function hiddenPaths(type: string): readonly (readonly string[])[] {
  return Object.entries(hiddenProperties).flatMap(([one, paths]) => {
    if (one !== type && !one.startsWith(`${type}/`)) return []
    const lists = one
      .slice(type.length + 1)
      .split('/')
      .filter((list) => list !== '')
    const below = lists.flatMap((list) => ['properties', list])
    return paths.map((path) => [...below, ...path.toLowerCase().split('.')])
  })
}

/** The prefix of the members that `prepare` adds to a body. Templates give no meaning to such a name. */
export const ownMark = '\u0000'

/** The id of a secret's holder is not a secret, and neither are booleans and absent values. */
function mayBeSecret(value: unknown): boolean {
  if (typeof value === 'boolean' || value === null) return false
  return (
    typeof value !== 'string' || parseResourceId(value)?.segments.at(-1)?.namespace === undefined
  )
}

/** The body without the values at these paths. Names ignore case, and `*` is every element of a list. */
export function withoutPaths(body: JsonObject, paths: readonly string[]): JsonObject {
  const hidden = paths.map((path) =>
    path
      .toLowerCase()
      .split('.')
      .filter((name) => name !== '*'),
  )
  return withoutSecrets(body, hidden) as JsonObject
}

/** Names ignore case. Lists are searched too. */
function withoutSecrets(value: unknown, hidden: readonly (readonly string[])[]): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, hidden))
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([name, one]): readonly [string, unknown][] => {
    const lower = name.toLowerCase()
    const below = hidden.flatMap(([first, ...rest]) => (first === lower ? [rest] : []))
    if (below.some((rest) => rest.length === 0)) return []
    if (secretName.test(name) && mayBeSecret(one)) return []
    return [[name, withoutSecrets(one, below)]]
  })
  // It defines properties, so a key named `__proto__` stays data.
  return fromMembers(members)
}

/** The body without the state, and without the principals that this installation gave to identities. */
function withoutOwn(body: JsonObject): JsonObject {
  const { properties, identity } = body
  return {
    ...body,
    ...(isJsonObject(properties) ? { properties: without(properties, ['provisioningState']) } : {}),
    ...(isJsonObject(identity) ? { identity: plainIdentity(identity) } : {}),
  }
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return fromMembers(Object.entries(object).filter(([name]) => !names.includes(name)))
}

function plainIdentity(identity: JsonObject): JsonObject {
  const { userAssignedIdentities: assigned } = identity
  return {
    ...without(identity, ['principalId', 'tenantId']),
    ...(isJsonObject(assigned)
      ? {
          userAssignedIdentities: fromMembers(
            Object.entries(assigned).map(([id, one]) => [
              id,
              isJsonObject(one) ? without(one, ['principalId', 'clientId']) : {},
            ]),
          ),
        }
      : {}),
  }
}

/** The body that a reader sees, with the properties that the real resource would compute. */
export function shownBody(
  filling: Filling & { readonly body: JsonObject },
  type: string,
): JsonObject {
  const { body, id } = filling
  const properties = isJsonObject(body['properties']) ? body['properties'] : {}
  const shown = { ...body, properties: withItemIds(properties, id.text) }
  return rowsOf(type).reduce<JsonObject>((made, row) => withComputed(made, row, filling), shown)
}

const rowsByType = Map.groupBy(computedProperties, ({ type }) => type.toLowerCase())

function rowsOf(type: string): readonly ComputedProperty[] {
  const own = rowsByType.get(shortType(type).toLowerCase()) ?? []
  return [...(rowsByType.get('*') ?? []), ...own]
}

function withComputed(
  made: JsonObject,
  { path, value, when }: ComputedProperty,
  filling: Filling,
): JsonObject {
  if (when !== undefined) {
    const found = memberAt(made, when.path.split('.'))
    if (found === undefined || !String(found).toLowerCase().includes(when.has.toLowerCase())) {
      return made
    }
  }
  const steps = path.replaceAll('[*]', '.[*]').split('.')
  // A value at a fixed path creates the objects on its way, unless the body decides whether they exist.
  return withValue(made, steps, { value, filling, place: '' }) as JsonObject
}

interface ComputedValue {
  readonly value: unknown
  readonly filling: Filling
  readonly place: string
}

/** The maximum number of items of one list or object that get computed values. */
const itemsMax = 1000

/** The document with the value at the path, unless a value is there already. */
function withValue(
  target: unknown,
  [first, ...rest]: readonly string[],
  { value, filling, place }: ComputedValue,
): unknown {
  if (first === undefined) return target === undefined ? fill(value, filling, place) : target
  if (first === '[*]') {
    if (!Array.isArray(target)) return target
    return target.map((one, at) =>
      at < itemsMax ? withValue(one, rest, { value, filling, place: `${place}[${at}]` }) : one,
    )
  }
  if (target !== undefined && !isJsonObject(target)) return target
  const own = target ?? {}
  if (first === '*') {
    return fromMembers(
      Object.entries(own).map(([name, one], at) => [
        name,
        at < itemsMax ? withValue(one, rest, { value, filling, place: `${place}.${name}` }) : one,
      ]),
    )
  }
  const known = Object.keys(own).find((one) => one.toLowerCase() === first.toLowerCase())
  const name = known ?? first
  const isOpenEnded = rest.includes('*') || rest.includes('[*]')
  if (known === undefined && isOpenEnded) return target
  const inner = withValue(known === undefined ? undefined : own[known], rest, {
    value,
    filling,
    place: `${place}.${name}`,
  })
  return inner === undefined ? target : { ...own, [name]: inner }
}

/** The body without computed values. A client that sends back what it read changes nothing. */
export function withoutComputed(
  filling: Filling & { readonly body: JsonObject },
  type: string,
): JsonObject {
  const rows = [...rowsOf(type), { path: 'properties.provisioningState' }]
  return rows.reduce<JsonObject>(
    (body, { path, value }: { readonly path: string; readonly value?: unknown }) =>
      withoutValue(body, path.replaceAll('[*]', '.[*]').split('.'), {
        value,
        filling,
        place: '',
      }) as JsonObject,
    filling.body,
  )
}

function withoutValue(
  target: unknown,
  [first, ...rest]: readonly string[],
  { value, filling, place }: ComputedValue,
): unknown {
  if (first === undefined) {
    // Any value is accepted for a property that only the plane computes.
    const isComputed = value === undefined || sameJson(target, fill(value, filling, place))
    return isComputed ? undefined : target
  }
  if (first === '[*]') {
    if (!Array.isArray(target)) return target
    return target.map((one, at) =>
      withoutValue(one, rest, { value, filling, place: `${place}[${at}]` }),
    )
  }
  if (!isJsonObject(target)) return target
  const members = Object.entries(target).flatMap(([name, one]): readonly [string, unknown][] => {
    if (first !== '*' && name.toLowerCase() !== first.toLowerCase()) return [[name, one]]
    const kept = withoutValue(one, rest, { value, filling, place: `${place}.${name}` })
    return kept === undefined ? [] : [[name, kept]]
  })
  return fromMembers(members)
}

/**
 * The maximum number of characters of ids that an answer adds. Long ids of many items would make an answer fifty
 * times the stored size.
 */
const idCharactersMax = 16_384

/**
 * Elements of lists that have the shape of a resource (`name` and `properties`) get ids below this one. The first
 * elements get them, up to the bound.
 */
function withItemIds(properties: JsonObject, id: string): JsonObject {
  let left = idCharactersMax
  return fromMembers(
    Object.entries(properties).map(([list, items]) => {
      if (!Array.isArray(items)) return [list, items]
      const shown = items.map((item: unknown) => {
        if (!isItem(item)) return item
        const itemId = `${id}/${list}/${item.name}`
        left -= itemId.length
        return withItemId(item, left < 0 ? undefined : itemId)
      })
      return [list, shown]
    }),
  )
}

function isItem(item: unknown): item is JsonObject & { readonly name: string } {
  return isJsonObject(item) && typeof item['name'] === 'string' && isJsonObject(item['properties'])
}

function withItemId(item: JsonObject, id: string | undefined): JsonObject {
  const { properties } = item
  const provisioned = { provisioningState: 'Succeeded', ...(properties as JsonObject) }
  return { ...(id === undefined ? {} : { id }), ...item, properties: provisioned }
}

/** The child's element in its parent's list, where the parent's body contained its children. */
export function itemOf(parent: JsonObject, filling: Pick<Filling, 'id'>): JsonObject | undefined {
  const list = filling.id.segments.at(-1)?.types.at(-1) ?? ''
  const items = memberAt(parent['properties'], [list])
  if (!Array.isArray(items)) return undefined
  const name = nameOf(filling.id).toLowerCase()
  return items.filter(isItem).find((one) => one.name.toLowerCase() === name)
}
