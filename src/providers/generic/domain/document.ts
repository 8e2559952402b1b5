/**
 * The stored shape of a generic resource: its body without the envelope and without what it only reads. What a reader
 * sees is made of it here. Nothing that a body calls a secret is kept.
 */

import { isJsonObject, type JsonObject, sameJson } from '#kernel/patch.ts'
import { nameOf, parseResourceId } from '#kernel/resource-id.ts'
import type { ComputedProperty } from './computed-properties.ts'
import { computedProperties, hiddenProperties, secretName } from './computed-properties.ts'
import { type Filling, fill, memberAt } from './fill.ts'

export interface GenericDocument {
  readonly body: JsonObject
  /** Sealed: what keys are made of that the resource's `list…` actions answer. */
  readonly seed: string
  /** What the seal is bound to. */
  readonly place: string
}

/** Members of a body that are the envelope's, or say how a template makes it. */
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
  // Of the resource's own state, which answers tell in `properties`.
  'provisioningstate',
  'state',
])

/** Without the first word of the namespace. */
export function shortType(fullType: string): string {
  return fullType.slice(fullType.indexOf('.') + 1)
}

/** What is kept of a body: no envelope, no secret, nothing that the plane says itself. */
export function keptBody(body: JsonObject, type: string): JsonObject {
  const hidden = hiddenPaths(shortType(type).toLowerCase())
  const kept = Object.entries(body).filter(
    ([name]) => !notKept.has(name.toLowerCase()) && !name.startsWith(ownMark),
  )
  return withoutOwn(withoutSecrets(Object.fromEntries(kept), hidden) as JsonObject)
}

/** What a type hides, and what its child types hide of children that come in the lists of its body. */
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

/** In front of the names of what `prepare` puts into a body. No template gives such a name a meaning. */
export const ownMark = '\u0000'

/** An id that leads to what holds the secret is none itself, nor are truth values and what is left out. */
function mayBeSecret(value: unknown): boolean {
  if (typeof value === 'boolean' || value === null) return false
  return (
    typeof value !== 'string' || parseResourceId(value)?.segments.at(-1)?.namespace === undefined
  )
}

/** Without what stands at these paths, in any case of their names; `*` is every element of a list. */
export function withoutPaths(body: JsonObject, paths: readonly string[]): JsonObject {
  const hidden = paths.map((path) =>
    path
      .toLowerCase()
      .split('.')
      .filter((name) => name !== '*'),
  )
  return withoutSecrets(body, hidden) as JsonObject
}

/** Names are told apart without case; lists are looked through. */
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
  // fromEntries defines properties, so a key named `__proto__` stays data.
  return Object.fromEntries(members)
}

/** Without the state, and the principals that identities have here. */
function withoutOwn(body: JsonObject): JsonObject {
  const { properties, identity } = body
  return {
    ...body,
    ...(isJsonObject(properties) ? { properties: without(properties, ['provisioningState']) } : {}),
    ...(isJsonObject(identity) ? { identity: plainIdentity(identity) } : {}),
  }
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

function plainIdentity(identity: JsonObject): JsonObject {
  const { userAssignedIdentities: assigned } = identity
  return {
    ...without(identity, ['principalId', 'tenantId']),
    ...(isJsonObject(assigned)
      ? {
          userAssignedIdentities: Object.fromEntries(
            Object.entries(assigned).map(([id, one]) => [
              id,
              isJsonObject(one) ? without(one, ['principalId', 'clientId']) : {},
            ]),
          ),
        }
      : {}),
  }
}

/** The body as a reader sees it, with what the real resource would have computed. */
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
  // A value at a fixed path makes the objects on its way, unless the body would say whether they are there.
  return withValue(made, steps, { value, filling, place: '' }) as JsonObject
}

interface ComputedValue {
  readonly value: unknown
  readonly filling: Filling
  readonly place: string
}

/** So many items of one list or object get computed values. */
const itemsMax = 1000

/** The document with the value at the path, unless something is there already. */
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
    return Object.fromEntries(
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

/** Without what a reader sees computed: whoever sends back what was read changes nothing. */
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
    // Any value is accepted for what only the plane computes.
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
  return Object.fromEntries(members)
}

/** Characters of ids that an answer adds. Long ids of many items would make it fifty times what is stored. */
const idCharactersMax = 16_384

/**
 * Elements of lists that are resources of their own by their shape (`name` and `properties`) have ids below this one: the
 * first of them, as far as there is room.
 */
function withItemIds(properties: JsonObject, id: string): JsonObject {
  let left = idCharactersMax
  return Object.fromEntries(
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

/** The element of its parent's list that a child is, where the parent was given its children in its body. */
export function itemOf(parent: JsonObject, filling: Pick<Filling, 'id'>): JsonObject | undefined {
  const list = filling.id.segments.at(-1)?.types.at(-1) ?? ''
  const items = memberAt(parent['properties'], [list])
  if (!Array.isArray(items)) return undefined
  const name = nameOf(filling.id).toLowerCase()
  return items.filter(isItem).find((one) => one.name.toLowerCase() === name)
}
