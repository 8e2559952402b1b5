/**
 * Lists what a write changed, property by property, as a reader would see it before and after. The list is bounded
 * in number and size. A property marked `writeOnly` appears by its path alone, without any value or digest.
 */

import { isMasked, type SecretPath } from './secret-paths.ts'

interface Change {
  /** `properties.containers[0].image` */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  /** A secret was given here. */
  readonly masked?: true
  /** The value was too long to store. */
  readonly cut?: true
}

export interface Changes {
  readonly list: readonly Change[]
  /** The number of changes that were left out. */
  readonly omitted: number
}

const changeLimits = { changes: 60, valueLength: 1024, length: 8192 } as const

/** These members say who and when, which the record says itself, or they never change. */
const ignoredMembers: ReadonlySet<string> = new Set([
  'id',
  'name',
  'type',
  'etag',
  '@odata.etag',
  'systemData',
])

/** Compares two wire objects. One is undefined when a resource is created or deleted. */
export function changesBetween(
  before: object | undefined,
  after: object | undefined,
  secrets: readonly SecretPath[] = [],
): Changes {
  const found = new ChangeCollector(secrets)
  for (const name of namesOf(before, after)) {
    if (!ignoredMembers.has(name))
      compare(found, [name], memberOf(before, name), memberOf(after, name))
  }
  return found
}

/** Adds the places where secrets were given to the changes. */
export function withSecretPaths(changes: Changes, given: readonly string[]): Changes {
  if (given.length === 0) return changes
  const room = Math.max(0, changeLimits.changes - changes.list.length)
  return {
    list: [
      ...changes.list,
      ...given.slice(0, room).map((path): Change => ({ path, masked: true })),
    ],
    omitted: changes.omitted + Math.max(0, given.length - room),
  }
}

class ChangeCollector implements Changes {
  readonly list: Change[] = []
  omitted = 0
  readonly secrets: readonly SecretPath[]
  #length = 0

  constructor(secrets: readonly SecretPath[]) {
    this.secrets = secrets
  }

  add(path: readonly string[], before: unknown, after: unknown, length: number): void {
    const isFull =
      this.list.length >= changeLimits.changes || this.#length + length > changeLimits.length
    if (isFull) {
      this.omitted++
      return
    }
    this.#length += length
    const change: { -readonly [K in keyof Change]: Change[K] } = { path: pathText(path) }
    if (length > changeLimits.valueLength) change.cut = true
    else {
      if (before !== undefined) change.before = before
      if (after !== undefined) change.after = after
    }
    this.list.push(change)
  }
}

function compare(
  found: ChangeCollector,
  path: readonly string[],
  before: unknown,
  after: unknown,
): void {
  if (before === after) return
  if (path.length === 2 && path[0] === 'properties' && path[1] === 'provisioningState') return
  if (found.secrets.length > 0 && isMasked(found.secrets, path)) return
  const inside = haveSameStructure(before, after)
  if (inside || (found.secrets.length > 0 && isOnOneSide(before, after))) {
    compareMembers(found, path, before, after)
    return
  }
  const length = lengthOf(before) + lengthOf(after)
  // A large object that exists on one side only is listed member by member.
  if (length > changeLimits.valueLength && isOnOneSide(before, after)) {
    compareMembers(found, path, before, after)
    return
  }
  found.add(path, before, after, length)
}

function compareMembers(
  found: ChangeCollector,
  path: readonly string[],
  before: unknown,
  after: unknown,
): void {
  for (const name of namesOf(before, after)) {
    if (found.omitted > 0 && found.list.length >= changeLimits.changes) return
    const [old, fresh] = [memberOf(before, name), memberOf(after, name)]
    // Most members are as they were: no path is made for them.
    if (old === fresh) continue
    const member = Array.isArray(before ?? after) ? `[${name}]` : name
    compare(found, [...path, member], old, fresh)
  }
}

/** True for two objects, or two lists of the same length: their members can be compared one by one. */
function haveSameStructure(before: unknown, after: unknown): boolean {
  if (Array.isArray(before) || Array.isArray(after)) {
    return Array.isArray(before) && Array.isArray(after) && before.length === after.length
  }
  return isObject(before) && isObject(after)
}

function isOnOneSide(before: unknown, after: unknown): boolean {
  return (isObject(before) && after === undefined) || (isObject(after) && before === undefined)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function namesOf(before: unknown, after: unknown): readonly string[] {
  if (!isObject(before)) return isObject(after) ? Object.keys(after) : []
  const names = Object.keys(before)
  if (!isObject(after)) return names
  for (const name of Object.keys(after)) if (!Object.hasOwn(before, name)) names.push(name)
  return names
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}

/** Characters of the value, roughly, as far as it matters: counted no further than what is never recorded. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (!isObject(value)) return value === undefined ? 0 : (JSON.stringify(value)?.length ?? 0)
  let length = 2
  if (Array.isArray(value)) {
    for (const member of value) {
      length += lengthOf(member) + 1
      if (length > changeLimits.length) break
    }
    return length
  }
  for (const name in value) {
    length += name.length + lengthOf(memberOf(value, name)) + 2
    if (length > changeLimits.length) break
  }
  return length
}

function pathText(path: readonly string[]): string {
  const text = path.length === 1 ? (path[0] ?? '') : path.join('.').replaceAll('.[', '[')
  return text.slice(0, 512)
}
