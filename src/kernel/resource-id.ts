/**
 * Resource paths: parse, format, compare. A path is a chain of segments, each a namespace with pairs of
 * type and name; it never touches a store and never throws on input: what is malformed comes back as a
 * refusal.
 *
 * Identity ignores case (contract: "resourceGroupName … case insensitive", facts 9.2); display keeps it.
 */

/**
 * One link of a path. The first link of most paths is implied: `/subscriptions/{s}/resourceGroups/{g}`
 * is types `subscriptions`, `resourceGroups` of the namespace word `Resources`, with no `providers` in it.
 */
interface Segment {
  /** The namespace as written (`Vendor.Authorization`), or `undefined` for the implied first link. */
  readonly namespace: string | undefined
  readonly types: readonly string[]
  /** As many as `types`; one fewer in a collection path. */
  readonly names: readonly string[]
}

/** A whole resource, or the root scope (an empty chain). It is immutable. */
export interface ResourceId {
  readonly segments: readonly Segment[]
  /** The path as shown, names and types in the case given. The root is `/`. */
  readonly text: string
  /** The path's identity: `text` in lower case. */
  readonly key: string
}

export type ParsedPath =
  | { readonly kind: 'resource'; readonly id: ResourceId }
  /** A path without a last name: a collection, or an action on `parent`. Only the registry can tell which. */
  | {
      readonly kind: 'collection'
      readonly parent: ResourceId
      readonly namespace: string | undefined
      readonly types: readonly string[]
      readonly word: string
      readonly text: string
    }
  | { readonly kind: 'malformed'; readonly reason: string }

export const rootId: ResourceId = Object.freeze({ segments: [], text: '/', key: '/' })

/** The implied first types, in the spelling that is stored and shown. */
const canonicalWords = new Map([
  ['subscriptions', 'subscriptions'],
  ['resourcegroups', 'resourceGroups'],
  ['providers', 'providers'],
])

const segmentsMax = 64
const nameMax = 260
/** Bytes of UTF-8. An index entry of PostgreSQL holds about 2,700 bytes, and keys are indexed. */
const idBytesMax = 2000

/**
 * Control characters, and characters that no name may hold (facts 9.2). The colon is allowed: names of billing
 * accounts contain it.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const forbiddenInName = /[<>%&\\?/\u0000-\u001f\u007f]/

/**
 * Most paths consist of characters that need no decoding and that names may hold. Such a path is checked as a
 * whole, not by segment.
 */
const plainPath = /^[\w./~()-]*$/

function malformed(reason: string): ParsedPath {
  return { kind: 'malformed', reason }
}

function utf8Length(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // The two halves of a surrogate pair are four bytes together.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return bytes
}

function decode(part: string): string | undefined {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Parses the path of a URL (no query). A single trailing slash is tolerated. */
export function parsePath(path: string): ParsedPath {
  if (!path.startsWith('/')) return malformed('a path begins with "/"')
  if (path === '/') return { kind: 'resource', id: rootId }
  // Encoded twice, each byte is five characters.
  if (path.length > 8 * idBytesMax) return malformed(`a path has at most ${idBytesMax} bytes`)
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  const whole = withoutEncodedScope(trimmed)
  const raw = whole.slice(1).split('/')
  if (raw.length > segmentsMax) return malformed(`a path has at most ${segmentsMax} segments`)
  const isPlain = plainPath.test(trimmed)
  // Mostly all of them are parts as they are.
  let parts: string[] | undefined
  let bytes = 0
  for (let at = 0; at < raw.length; at++) {
    const one = raw[at] as string // at < length
    const part = isPlain ? one : decode(one)
    if (part === undefined) return malformed(`"${one.slice(0, 60)}" is not valid percent-encoding`)
    if (part === '') {
      const before = parts?.length ?? at
      if (isEmptyParent(raw, at) || endsScope(raw, at, before)) {
        parts ??= raw.slice(0, at)
        continue
      }
      return malformed('a path has no empty segments')
    }
    if (part.length > nameMax) return malformed(`a segment has at most ${nameMax} characters`)
    if (!isPlain && (!part.isWellFormed() || forbiddenInName.test(part))) {
      return malformed(
        `"${JSON.stringify(part).slice(1, 60)}" holds a character that names may not hold`,
      )
    }
    if (part === '.' || part === '..') return malformed('a segment may not be "." or ".."')
    bytes += (isPlain ? part.length : utf8Length(part)) + 1
    if (bytes > idBytesMax) return malformed(`a path has at most ${idBytesMax} bytes`)
    if (parts === undefined && part !== one) parts = raw.slice(0, at)
    parts?.push(part)
  }
  return parts === undefined ? parseParts(raw, whole) : parseParts(parts)
}

/**
 * Published and generated clients treat a scope as one variable and encode its slashes:
 * `/%2Fsubscriptions%2F…/providers/…`.
 */
function withoutEncodedScope(path: string): string {
  const end = path.indexOf('/', 1)
  const [first, rest] = [path.slice(1, end), path.slice(end)]
  if (!path.startsWith('/') || end < 0 || !/%2F/i.test(first) || !/^\/providers\//i.test(rest))
    return path
  const scope = decode(first)
  if (scope === undefined) return path
  // The parts are encoded again, so that nothing is decoded twice.
  const parts = scope.replace(/^\//, '').split('/')
  const encoded = parts.map((part) => `/${encodeURIComponent(part)}`).join('')
  return encoded === '/' ? rest : encoded + rest
}

/**
 * Published clients have a parameter for a parent after the namespace, and leave it empty:
 * `providers/{namespace}//{type}`.
 */
function isEmptyParent(raw: readonly string[], at: number): boolean {
  if (at >= raw.length - 1 || at < 2 || raw[at - 1] === '') return false
  return raw[at - 2]?.toLowerCase() === 'providers'
}

/** A scope may be given with a slash at its end: `{scope}//providers/…`. No name can stand there. */
function endsScope(raw: readonly string[], at: number, before: number): boolean {
  const isWhole = before > 0 && before % 2 === 0 && raw[at - 1] !== ''
  return isWhole && raw[at + 1]?.toLowerCase() === 'providers'
}

/** `text` is the path of these parts. */
function parseParts(parts: readonly string[], text?: string): ParsedPath {
  const segments: Segment[] = []
  let namespace: string | undefined
  let types: string[] = []
  let names: string[] = []
  let index = 0
  let isSpelledSo = true
  while (index < parts.length) {
    const word = parts[index] as string // index < length
    const next = parts[index + 1]
    if (word.toLowerCase() === 'providers' && next !== undefined) {
      if (namespace !== undefined && types.length === 0) {
        return malformed('a type must follow the namespace')
      }
      const after = parts[index + 2]
      const bare = segments.length === 0 && namespace === undefined
      if (after === undefined || (bare && parts.length === index + 3 && isOfProvider(after))) {
        // `…/providers/{namespace}` names the provider itself, and one of its actions may follow.
        if (!bare) return malformed('a type must follow the namespace')
        types.push('providers')
        names.push(next)
        isSpelledSo &&= word === 'providers'
        index += 2
        continue
      }
      if (types.length > 0) segments.push(segmentOf(namespace, types, names))
      isSpelledSo &&= word === 'providers'
      namespace = next
      types = []
      names = []
      index += 2
      continue
    }
    const spelled =
      namespace === undefined ? (canonicalWords.get(word.toLowerCase()) ?? word) : word
    if (next === undefined) {
      const parent = fromSegments(
        types.length > 0 ? [...segments, { namespace, types, names }] : segments,
      )
      const text = `${joinable(parent.text)}/${types.length === 0 && namespace !== undefined ? `providers/${namespace}/` : ''}${spelled}`
      return { kind: 'collection', parent, namespace, types: [...types, spelled], word, text }
    }
    types.push(spelled)
    names.push(next)
    isSpelledSo &&= spelled === word
    index += 2
  }
  if (types.length > 0) segments.push(segmentOf(namespace, types, names))
  const isText = isSpelledSo && text !== undefined && segments.length > 0
  const id = isText ? { segments, text, key: text.toLowerCase() } : fromSegments(segments)
  return { kind: 'resource', id }
}

/** Lists that grew have room for more, and ids are kept for long. */
function segmentOf(
  namespace: string | undefined,
  types: readonly string[],
  names: readonly string[],
): Segment {
  return { namespace, types: types.slice(), names: names.slice() }
}

function isOfProvider(word: string): boolean {
  return ['register', 'unregister', 'providerpermissions', 'resourcetypes'].includes(
    word.toLowerCase(),
  )
}

function joinable(text: string): string {
  return text === '/' ? '' : text
}

/** Builds an id from its segments. */
export function fromSegments(segments: readonly Segment[]): ResourceId {
  if (segments.length === 0) return rootId
  let text = ''
  for (const segment of segments) {
    if (segment.namespace !== undefined) text += `/providers/${segment.namespace}`
    for (let at = 0; at < segment.types.length; at++) {
      text += `/${segment.types[at]}/${segment.names[at]}`
    }
  }
  return { segments, text, key: text.toLowerCase() }
}

/** Parses an id that must name a resource; `undefined` for anything else. */
export function parseResourceId(text: string): ResourceId | undefined {
  const parsed = parsePath(text)
  return parsed.kind === 'resource' ? parsed.id : undefined
}

/** The id one level up: the parent of a nested type, the scope of anything else. */
export function parentOf(id: ResourceId): ResourceId {
  const last = id.segments.at(-1)
  if (last === undefined) return rootId
  if (isParent(lastParent, id, last)) return lastParent
  const before = id.segments.slice(0, -1)
  lastParent =
    last.types.length === 1
      ? fromSegments(before)
      : fromSegments([
          ...before,
          { ...last, types: last.types.slice(0, -1), names: last.names.slice(0, -1) },
        ])
  return lastParent
}

/** The last one: siblings are mostly written together, and each write asks several times. */
let lastParent: ResourceId = rootId

/** Whether it is the parent of the id whose last segment is given. The same text is the same path. */
function isParent(
  parent: ResourceId,
  id: ResourceId,
  { namespace, types, names }: Segment,
): boolean {
  const [type, name] = [types.at(-1) ?? '', names.at(-1) ?? '']
  const isNested = types.length > 1
  const link = isNested || namespace === undefined ? 0 : providers.length + namespace.length
  const length = id.text.length - type.length - name.length - 2 - link
  return (
    parent.text.length === length &&
    parent.segments.length === id.segments.length - (isNested ? 0 : 1) &&
    (!isNested || parent.segments.at(-1)?.types.length === types.length - 1) &&
    id.text.startsWith(parent.text)
  )
}

/** The scope of an id: all but its last `providers` segment. */
export function scopeOf(id: ResourceId): ResourceId {
  const last = id.segments.at(-1)
  if (last === undefined || last.namespace === undefined) return parentOf(id)
  return fromSegments(id.segments.slice(0, -1))
}

/** A child of `parent` in the same segment (`…/{type}/{name}`). */
export function childOf(parent: ResourceId, type: string, name: string): ResourceId {
  const last = parent.segments.at(-1)
  if (last === undefined) {
    return fromSegments([{ namespace: undefined, types: [type], names: [name] }])
  }
  return fromSegments([
    ...parent.segments.slice(0, -1),
    { ...last, types: [...last.types, type], names: [...last.names, name] },
  ])
}

/** A resource of another provider on `scope`: `{scope}/providers/{namespace}/{types…}`. */
export function extensionOf(
  scope: ResourceId,
  namespace: string,
  types: readonly string[],
  names: readonly string[],
): ResourceId {
  return fromSegments([...scope.segments, { namespace, types, names }])
}

export function nameOf(id: ResourceId): string {
  return id.segments.at(-1)?.names.at(-1) ?? ''
}

/** The subscription of an id, as written. */
export function subscriptionOf(id: ResourceId): string | undefined {
  const first = id.segments[0]
  if (first === undefined || first.namespace !== undefined) return undefined
  return first.types[0] === 'subscriptions' ? first.names[0] : undefined
}

/** The resource group of an id, as written. */
export function resourceGroupOf(id: ResourceId): string | undefined {
  const first = id.segments[0]
  if (first === undefined || first.namespace !== undefined) return undefined
  return first.types[1] === 'resourceGroups' ? first.names[1] : undefined
}

const managementGroups = /^\/providers\/[^/]+\/managementgroups\//

/** Of a key: the one of its resource group or management group; outside groups, of the first scope. */
export function groupKey(key: string): string {
  const isInGroup = key.includes('/resourcegroups/') || managementGroups.test(key)
  return key.split('/', isInGroup ? 5 : 3).join('/')
}

/**
 * Of a key: the one of its subscription; outside subscriptions, of the first scope. That of management groups is one for all:
 * whoever makes them has any number.
 */
export function subscriptionKey(key: string): string {
  return key.split('/', 3).join('/')
}

export function subscriptionIdOf(subscription: string): ResourceId {
  return fromSegments([{ namespace: undefined, types: ['subscriptions'], names: [subscription] }])
}

export function resourceGroupIdOf(subscription: string, group: string): ResourceId {
  return fromSegments([
    {
      namespace: undefined,
      types: ['subscriptions', 'resourceGroups'],
      names: [subscription, group],
    },
  ])
}

/**
 * The keys of all scopes that contain an id, from the root down to the id itself. A permission at any of them
 * applies.
 */
export function scopeKeys(id: ResourceId): readonly string[] {
  const keys = ['/']
  // A few letters are longer in lower case.
  const lower = id.key.length === id.text.length ? unchanged : inLowerCase
  let end = 0
  for (const segment of id.segments) {
    if (segment.namespace !== undefined) end += providers.length + lower(segment.namespace).length
    for (let at = 0; at < segment.types.length; at++) {
      const [type, name] = [segment.types[at] as string, segment.names[at] as string] // at < length
      end += lower(type).length + lower(name).length + 2
      keys.push(id.key.slice(0, end))
    }
  }
  return keys
}

const providers = '/providers/'
const unchanged = (text: string): string => text
const inLowerCase = (text: string): string => text.toLowerCase()

/** Whether `key` is at or below `scopeKey`. */
export function isWithin(key: string, scopeKey: string): boolean {
  if (scopeKey === '/') return true
  return (
    key.startsWith(scopeKey) && (key.length === scopeKey.length || key[scopeKey.length] === '/')
  )
}
