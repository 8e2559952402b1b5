/**
 * One request, parsed and checked against the model: the resource, the path to it and the options. It reads no
 * rows, so it does not know whether a key exists.
 */

import { refuse as commonRefuse } from '#kernel/error.ts'
import type { Literal } from '#kernel/filter/nodes.ts'
import { jsonExcess, jsonSizeLimitsOf } from '#kernel/json-size.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { type Bytes, readBytes } from '#kernel/stored-bytes.ts'
import { isUuid } from '#kernel/uuid.ts'
import { leadsToList } from '../compile/paths.ts'
import {
  type BoundAction,
  type Entity,
  type Field,
  fieldNamed,
  type Model,
  type Navigation,
  type Version,
} from '../entity.ts'
import { refuse } from '../errors.ts'
import type { BusinessRequest } from '../message.ts'
import {
  decoded,
  isBatchPath,
  parsePath,
  parseSearch,
  type RawKey,
  type RawOptions,
  type RawSegment,
  type SystemOption,
} from './address.ts'
import { readFormat } from './answer-format.ts'
import { readBoundValues } from './bound-values.ts'
import { odataLimits } from './limits.ts'
import type { QueryOptions } from './options.ts'
import { readOptions } from './read-options.ts'

/** The values of key fields in the form of their columns. A key has one, an alternate key may have several. */
export type Key = readonly KeyPart[]
interface KeyPart {
  readonly field: Field
  readonly value: string | number
}

/** One step of the path. */
export interface Segment {
  readonly entity: Entity
  readonly key?: Key
  /** The navigation from the previous step. Absent for a set directly below the company or the root. */
  readonly navigation?: Navigation
}

/**
 * How the request names a company: in the path, by `?company=` or by the header `Company`, with an id or a name.
 */
type CompanyKey = Key

interface Addressed {
  readonly version: Version
  readonly method: string
  readonly company: CompanyKey | undefined
  /**
   * It has at least one segment, and leaves out `companies(key)` where more follows. The `entity` of the last
   * segment is the requested one.
   */
  readonly path: readonly Segment[]
  readonly options: QueryOptions
  /** The body of POST, PATCH or PUT: a JSON object of limited depth. Undefined where it is large. */
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  /** `Prefer: return=minimal` or `return-no-content`. */
  readonly prefersMinimal: boolean
  /** `Prefer: odata.maxpagesize=n` (also `maxpagesize`), limited. */
  readonly maxPageSize: number | undefined
  /** `Prefer: odata.track-changes`. */
  readonly tracksChanges: boolean
  /** The token of a delta link. */
  readonly deltaToken: string | undefined
  /** The address after the version segment and its query, as sent. Next links are made of it. */
  readonly address: { readonly path: string; readonly search: string }
}

interface RowsRequest extends Addressed {
  readonly kind: 'rows'
}

interface RowRequest extends Addressed {
  readonly kind: 'row'
}

/** `…/$count`: the number of rows as text. */
interface CountRequest extends Addressed {
  readonly kind: 'count'
}

/** `…/displayName` or `…/displayName/$value`: one field of one row. */
interface PropertyRequest extends Addressed {
  readonly kind: 'property'
  readonly field: Field
  /** Plain text, for `$value`. */
  readonly raw: boolean
}

interface ActionRequest extends Addressed {
  readonly kind: 'action'
  readonly action: BoundAction
}

export type DataRequest = RowsRequest | RowRequest | CountRequest | PropertyRequest | ActionRequest

export type ParsedRequest =
  | { readonly kind: 'service'; readonly version: Version; readonly method: string }
  | { readonly kind: 'metadata'; readonly version: Version; readonly method: string }
  | { readonly kind: 'definitions'; readonly version: Version; readonly method: string }
  | { readonly kind: 'batch'; readonly version: Version; readonly method: string }
  | DataRequest

/** Levels of nesting in a body. */
const bodyDepthMax = 16

/** Parses one request. Throws only `ApiError`s of `errors.ts`, on any input. */
export function parseRequest(
  model: Model,
  namespace: string,
  request: BusinessRequest,
  now: number,
): ParsedRequest {
  const { version, method, path, search, headers } = request
  if (path.length + search.length > odataLimits.addressLengthMax) {
    throw refuse.BadRequest_InvalidRequestUrl({
      reason: `it is longer than ${odataLimits.addressLengthMax} characters.`,
    })
  }
  checkVersion(headers)
  const segments = parsePath(path)
  const raw = parseSearch(search)
  checkFormat(raw.system.get('$format'), segments[0]?.name === '$metadata')
  const only = segments.length === 1 ? segments[0] : undefined
  if (segments.length === 0) return { kind: 'service', version, method }
  if (only?.name === '$metadata') return { kind: 'metadata', version, method }
  if (only?.name === 'entityDefinitions') return { kind: 'definitions', version, method }
  if (isBatchPath(path)) return { kind: 'batch', version, method }

  const way = new Way(model, namespace, version)
  const end = way.walk(segments)
  const entity = way.last.entity
  const company =
    way.company ??
    (entity.scope === 'installation' ? undefined : namedCompany(model, version, raw, headers))
  if (company === undefined && entity.scope === 'company') {
    throw refuse.BadRequest_RequiredParamNotProvided({
      name: 'company',
      reason: `'${way.path[0]?.entity.set}' belongs to a company: write companies({id})/${path.slice(0, 100)}, or add ?company={id or name}.`,
    })
  }
  checkApplicable(end.kind, method, raw)
  checkIntent(method, headers['data-access-intent'])
  const prefer = headers['prefer'] ?? ''
  const pageSize =
    prefer === ''
      ? undefined
      : /(?:^|[\s,;])(?:odata\.)?maxpagesize\s*=\s*(\d{1,9})/i.exec(prefer)?.[1]
  return {
    ...end,
    version,
    method,
    company,
    path: way.path,
    options: readOptions(model, entity, version, {
      system: raw.system,
      values: readBoundValues(raw.custom, now),
      format: readFormat(raw.system.get('$format'), headers['accept']),
    }),
    body: end.kind === 'action' ? undefined : readBody(request),
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
    prefersMinimal:
      prefer !== '' && /(?:^|[\s,;])return(?:\s*=\s*minimal|-no-content)/i.test(prefer),
    maxPageSize:
      pageSize === undefined || Number(pageSize) === 0
        ? undefined
        : Math.min(Number(pageSize), odataLimits.pageSizeMax),
    tracksChanges:
      prefer !== '' && /(?:^|[\s,;])(?:odata\.)?track-changes(?:$|[\s,;])/i.test(prefer),
    deltaToken: raw.system.get('$deltatoken'),
    address: { path, search },
  }
}

type End =
  | { readonly kind: 'rows' | 'row' | 'count' }
  | { readonly kind: 'property'; readonly field: Field; readonly raw: boolean }
  | { readonly kind: 'action'; readonly action: BoundAction }

/** Walks the segments of a path through the model. */
class Way {
  readonly path: Segment[] = []
  company: CompanyKey | undefined
  readonly #model: Model
  readonly #namespace: string
  readonly #version: Version
  /** The last segment is one row, not a list. */
  #single = false

  constructor(model: Model, namespace: string, version: Version) {
    this.#model = model
    this.#namespace = namespace
    this.#version = version
  }

  get last(): Segment {
    // `walk` adds a segment before anything reads this.
    return this.path[this.path.length - 1] as Segment
  }

  walk(segments: readonly RawSegment[]): End {
    const rest = [...segments]
    // The root was handled before.
    this.#set(rest.shift() as RawSegment)
    const second = rest[0]
    if (this.last.entity.scope === 'installation' && this.#single && second !== undefined) {
      if (this.#model.find(second.name, this.#version) !== undefined) {
        this.company = this.last.key
        this.path.pop()
        rest.shift()
        this.#set(second)
      }
    }
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
      const end = this.#step(one, rest)
      if (end !== undefined) return end
    }
    return { kind: this.#single ? 'row' : 'rows' }
  }

  #set(segment: RawSegment): void {
    const entity = this.#model.find(segment.name, this.#version)
    if (entity === undefined) throw notThere(segment.name)
    this.#push(entity, segment, undefined)
  }

  #push(entity: Entity, segment: RawSegment, navigation: Navigation | undefined): void {
    const key = segment.key === undefined ? undefined : readKey(entity, this.#version, segment.key)
    const list = navigation === undefined || leadsToList(navigation, this.#version)
    if (key !== undefined && !list) throw notThere(`${segment.name}(…)`)
    this.#single = key !== undefined || !list
    this.path.push({
      entity,
      ...(key === undefined ? {} : { key }),
      ...(navigation === undefined ? {} : { navigation }),
    })
  }

  #step(segment: RawSegment, rest: readonly RawSegment[]): End | undefined {
    const { name } = segment
    const { entity } = this.last
    const isLast = rest.length === 0
    if (name === '$count' && !this.#single && isLast) return { kind: 'count' }
    if (!this.#single) throw notThere(name)
    const navigation = entity.navigations.find(
      (one) => one.name === name && one.versions.includes(this.#version),
    )
    const field = fieldNamed(entity, this.#version, name)
    const target =
      navigation === undefined ? undefined : this.#model.find(navigation.target, this.#version)
    if (navigation !== undefined && target !== undefined && field === undefined) {
      this.#push(target, segment, navigation)
      return undefined
    }
    if (field !== undefined && segment.key === undefined) {
      if (isLast) return { kind: 'property', field, raw: false }
      const raw = rest.length === 1 && rest[0]?.name === '$value' && field.type.kind !== 'complex'
      if (raw) return { kind: 'property', field, raw }
      throw notThere(rest[0]?.name ?? name)
    }
    const prefix = `${this.#namespace}.NAV.`
    const action = entity.actions.find(
      (one) => `${prefix}${one.name}` === name && one.versions.includes(this.#version),
    )
    const called = segment.key === undefined || segment.key.form === 'empty'
    if (action !== undefined && isLast && called) return { kind: 'action', action }
    throw notThere(name)
  }
}

function notThere(name: string): Error {
  return refuse.BadRequest_NotFound({ name: name.slice(0, 100) })
}

/** The key in parentheses, as values of columns. */
function readKey(entity: Entity, version: Version, raw: RawKey): Key {
  if (raw.form === 'empty') {
    throw refuse.BadRequest_InvalidRequestUrl({ reason: `'${entity.set}()' names no key.` })
  }
  if (raw.form === 'single') return [idPart(entity, version, raw.value)]
  const names = raw.values.map(([name]) => name)
  if (names.length === 1 && names[0] === 'id') {
    return raw.values.map(([, value]) => idPart(entity, version, value))
  }
  const known = entity.alternateKeys.find(
    (one) => one.length === names.length && one.every((name) => names.includes(name)),
  )
  if (known === undefined) {
    const keys = [['id'], ...entity.alternateKeys].map((one) => one.join(' with '))
    throw refuse.BadRequest_InvalidRequestUrl({
      reason: `the keys of '${entity.set}' are ${keys.join(', ')}.`,
    })
  }
  return raw.values.map(([name, value]) => {
    const field = fieldNamed(entity, version, name)
    if (field === undefined) throw notThere(name)
    return { field, value: keyValue(field, value) }
  })
}

function idPart(entity: Entity, version: Version, value: Literal): KeyPart {
  const own = fieldNamed(entity, version, entity.key)
  // In v1.0 a line may also be named by its GUID, which is the id in v2.0.
  const guid = value.type === 'guid' ? fieldNamed(entity, 'v2.0', entity.key) : undefined
  const field = own?.type.kind === 'string' && guid !== undefined ? guid : own
  if (field === undefined) throw new Error(`The entity ${entity.set} has no field ${entity.key}.`)
  const found = keyValue(field, value)
  return { field, value: typeof found === 'string' ? found.toLowerCase() : found }
}

function keyValue(field: Field, literal: Literal): string | number {
  switch (field.type.kind) {
    case 'guid':
      if (literal.type === 'guid') return literal.text.toLowerCase()
      throw refuse.Application_InvalidGUID(
        { property: field.name, value: describeLiteral(literal) },
        { target: field.name },
      )
    case 'integer':
      if (literal.type === 'number' && /^-?\d{1,15}$/.test(literal.text)) return literal.value
      break
    case 'string':
      if (literal.type === 'string') return literal.value
  }
  throw refuse.BadRequest_InvalidRequestUrl({
    reason: `the key '${field.name}' is ${field.type.kind === 'string' ? "text in single quotes ('…')" : 'a whole number'}, not '${describeLiteral(literal)}'.`,
  })
}

function describeLiteral(literal: Literal): string {
  return (
    'text' in literal ? literal.text : String('value' in literal ? literal.value : null)
  ).slice(0, 60)
}

/** `?company=` or the header `Company`, each with an id or a name (business facts 2). */
function namedCompany(
  model: Model,
  version: Version,
  raw: RawOptions,
  headers: BusinessRequest['headers'],
): CompanyKey | undefined {
  const header = headers['company']
  const text =
    raw.custom.get('company') ??
    (header === undefined ? undefined : decoded(header, 'plus-is-plus'))
  const companies = model.find('companies', version)
  if (text === undefined || text === '' || companies === undefined) return undefined
  const isId = isUuid(text)
  const field = fieldNamed(companies, version, isId ? 'id' : 'name')
  return field === undefined ? undefined : [{ field, value: isId ? text.toLowerCase() : text }]
}

/**
 * Answers have OData version 4.0. A client that accepts only older versions, or that sends another version, gets an
 * error.
 */
function checkVersion(headers: BusinessRequest['headers']): void {
  const most = headers['odata-maxversion']
  const own = headers['odata-version']
  if (most !== undefined && !/^(?:4\.\d+|[5-9]\d*\.\d+)$/.test(most.trim())) {
    throw refuse.BadRequest({
      reason: `The header 'OData-MaxVersion' is '${most.slice(0, 20)}'; answers are of 4.0.`,
    })
  }
  if (own === undefined || /^4\.0?[01]?$/.test(own.trim())) return
  throw refuse.BadRequest({
    reason: `The header 'OData-Version' is '${own.slice(0, 20)}'; it may be 4.0 or 4.01.`,
  })
}

function checkFormat(format: string | undefined, isMetadata: boolean): void {
  if (format === undefined) return
  const fits = isMetadata
    ? /^(?:xml|application\/xml)$/i.test(format)
    : /^(?:json|application\/json(?:;.*)?)$/i.test(format)
  if (fits) return
  throw refuse.BadRequest({
    reason: `The option '$format' is '${format.slice(0, 40)}'; here it may be ${isMetadata ? 'xml' : 'json'}.`,
  })
}

const rowOptions: readonly SystemOption[] = ['$select', '$expand', '$format', '$schemaversion']
const countOptions: readonly SystemOption[] = ['$filter', '$format', '$schemaversion']

/** Options without a meaning for the request are refused, not ignored. */
function checkApplicable(kind: DataRequest['kind'], method: string, raw: RawOptions): void {
  if (kind === 'rows' && (method === 'GET' || method === 'HEAD')) return
  const fit = kind === 'count' ? countOptions : rowOptions
  const odd = [...raw.system.keys()].find((one) => !fit.includes(one))
  if (odd === undefined) return
  throw refuse.BadRequest({
    reason: `The option '${odd}' goes with reading a list, not with ${method} of this address.`,
  })
}

function checkIntent(method: string, intent: string | undefined): void {
  if (intent === undefined || intent.toLowerCase() !== 'readonly') return
  if (method === 'GET' || method === 'HEAD') return
  throw refuse.BadRequest_InvalidOperation({
    reason: `The header 'Data-Access-Intent' says ReadOnly, but ${method} writes.`,
  })
}

function readBody(request: BusinessRequest): DataRequest['body'] {
  const { method, body, headers } = request
  if (!['POST', 'PATCH', 'PUT'].includes(method) || body === undefined || body.length === 0) {
    return undefined
  }
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw commonRefuse.UnsupportedMediaType({ type: (type ?? '').slice(0, 60) })
  }
  // `large-json.ts` reads it, in pieces.
  if (isLargeJson(body)) return undefined
  const parsed = parseJson(body)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw unreadable('a JSON object was expected')
  }
  if (!withinDepth(parsed, bodyDepthMax)) {
    throw unreadable(`at most ${bodyDepthMax} levels inside each other`)
  }
  // The parsed JSON is an object and not an array.
  return parsed as Readonly<Record<string, unknown>>
}

/** A body up to this size is parsed at once. */
const parsedAtOnceMax = 64 * 1024
/** The bytes that are parsed together: an element, or an object without its long lists and objects. */
export const jsonBytesMax = 512 * 1024

export function isLargeJson(body: Bytes): boolean {
  return body.length > parsedAtOnceMax
}

export function parseJson(bytes: Bytes): unknown {
  if (bytes.length > jsonBytesMax) throw tooLong()
  const body = readBytes(bytes)
  const text = decodedText(body)
  const limits = jsonSizeLimitsOf(defaultLimits)
  const { depthMax, membersMax, propertiesMax } = limits
  const excess = jsonExcess(body, limits)
  if (excess?.limit === 'depthMax') throw unreadable(`at most ${depthMax} levels inside each other`)
  if (excess !== undefined) {
    throw unreadable(
      excess.limit === 'membersMax'
        ? `at most ${membersMax} objects, lists, properties and elements`
        : `at most ${propertiesMax} properties of one object`,
    )
  }
  try {
    return JSON.parse(text)
  } catch {
    // The parser throws where the text is not JSON.
    throw notJson()
  }
}

/** It keeps nothing of one whole text for the next. */
const decoder = new TextDecoder('utf-8', { fatal: true })

function decodedText(body: Uint8Array): string {
  try {
    return decoder.decode(body)
  } catch {
    // The decoder throws where the bytes are not text.
    throw notJson()
  }
}

export function notJson(): Error {
  return unreadable('it is not JSON in UTF-8')
}

export function tooLong(): Error {
  return unreadable(`at most ${jsonBytesMax} bytes in one object without its long lists`)
}

export function unreadable(reason: string): Error {
  return refuse.BadRequest({ reason: `The request body is invalid: ${reason}.` })
}

function withinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((one) => withinDepth(one, depth - 1))
}
