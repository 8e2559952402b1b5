/**
 * An OpenAPI 3 or Swagger 2 document made into an API and its operations: template parameters, query and header parameters,
 * representations of bodies and answers with their examples. Schemas are not kept. Pure; whatever is wrong with a document
 * comes back in words.
 */

import { createRequire } from 'node:module'
import { type JsonSizeLimits, jsonExcess, jsonSizeLimitsOf } from '#kernel/json-size.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import type {
  Operation,
  OperationRequest,
  OperationResponse,
  Parameter,
  Representation,
} from '../../resources/operations/model.ts'

import { charactersMax, DocumentSource, listOf, objectOf } from './document-source.ts'
import { fromSwagger, isSwagger, serverOfSwagger } from './swagger.ts'

type Json = Readonly<Record<string, unknown>>

export interface ImportedOperation {
  readonly name: string
  readonly model: Operation
}

export interface ImportedApi {
  readonly title: string | undefined
  readonly description: string | undefined
  readonly serviceUrl: string | undefined
  readonly operations: readonly ImportedOperation[]
}

export const importFormats = ['openapi', 'openapi+json', 'swagger-json'] as const

const operationsMax = 500
/** Characters of all texts and names of a document, with each use of an alias: as many as a body has bytes. */
const textMax = defaultLimits.bodyBytesMax
const nameLengthMax = 80
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** The API of a document, or what is wrong with it. */
export function readOpenApi(text: string): ImportedApi | string {
  const document = parsed(text)
  if (typeof document === 'string') return document
  const swagger = isSwagger(document)
  if (!swagger && textIn(document, 'openapi')?.startsWith('3.') !== true) {
    return 'expected an OpenAPI document of version 3 or 2, whose member `openapi` or `swagger` says so'
  }
  const source = new DocumentSource(document)
  const info = objectIn(document, 'info')
  const [server] = listIn(document, 'servers')
  const url = swagger ? serverOfSwagger(document) : textIn(server, 'url')
  const operations: ImportedOperation[] = []
  const names = new Set<string>()
  const seen = new Set<string>()
  for (const [path, item] of Object.entries(objectIn(document, 'paths'))) {
    if (!path.startsWith('/') || path.length > 1000) return `the path '${shown(path)}' is none`
    const shared = source.resolved(item)
    for (const method of methods) {
      const own = shared[method]
      if (!isJsonObject(own) || (swagger && method === 'trace')) continue
      const model = operationOf(source, {
        path,
        method,
        // One by one, so that what is made of references ends at the bounds of operations.
        ...(swagger
          ? { shared: {}, own: fromSwagger(source, document, { shared, own }) }
          : { shared, own }),
      })
      if (typeof model === 'string') return model
      if (source.isSpent) {
        return `with what it refers to, its operations have more than ${charactersMax} characters`
      }
      const key = `${model.method} ${model.urlTemplate}`
      if (seen.has(key)) return `the operation '${shown(key)}' is there twice`
      seen.add(key)
      operations.push({
        name: freshName(nameOfOperation(own, `${method} ${path}`), names),
        model,
      })
      if (operations.length > operationsMax) return `it has more than ${operationsMax} operations`
    }
  }
  return {
    title: textIn(info, 'title')?.slice(0, 300),
    description: textIn(info, 'description')?.slice(0, 10_000),
    serviceUrl: url?.startsWith('http') === true ? url.slice(0, 2000) : undefined,
    operations,
  }
}

export function isJsonText(text: string): boolean {
  return text.trimStart().startsWith('{')
}

function parsed(text: string): Json | string {
  const limits = jsonSizeLimitsOf(defaultLimits)
  const tooLarge = `it is deeper than ${limits.depthMax} levels, or has more than ${limits.membersMax} members or ${textMax} characters`
  // The size of the parsed text is computed before it is parsed.
  const json = isJsonText(text) ? text : jsonOfYaml(text, limits)
  if (json === 'too large') return tooLarge
  if (json !== undefined && jsonExcess(Buffer.from(json), limits) !== undefined) return tooLarge
  const value = json === undefined ? undefined : jsonIn(json)
  if (!isJsonObject(value)) return 'it can be read neither as JSON nor as YAML'
  // Values that neither store can hold, or that JavaScript treats specially.
  return isUnfit(value)
    ? 'names may not be `__proto__`, and texts hold neither NUL nor a lone surrogate'
    : value
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Loaded for the first document that is not JSON, so that a start does not wait for it. */
const load = createRequire(import.meta.url)

function jsonOfYaml(text: string, limits: JsonSizeLimits): string | undefined {
  const { parseDocument } = load('yaml') as typeof import('yaml')
  try {
    const document = parseDocument(text, {
      logLevel: 'silent',
      // Each key would be compared with all before it, and each error would look for its line from the beginning.
      uniqueKeys: false,
      prettyErrors: false,
      // Whatever version it says: the values of JSON, and no bytes, sets or merged maps.
      schema: 'core',
      resolveKnownTags: false,
    })
    if (document.errors.length > 0) return undefined
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    // Aliases share one value here, and each would be a copy in the text.
    return isWithin(value, limits) ? JSON.stringify(value) : 'too large'
  } catch {
    // It has more aliases, or more levels, than anybody writes.
    return undefined
  }
}

/** Whether a value is within the limits, where each use of a shared value counts anew. */
function isWithin(all: unknown, { depthMax, membersMax }: JsonSizeLimits): boolean {
  let members = membersMax
  let characters = textMax
  const take = (value: unknown, depth: number): boolean => {
    if (typeof value === 'string') characters -= value.length
    if (characters < 0) return false
    if (typeof value !== 'object' || value === null) return true
    const entries = Object.entries(value)
    members -= entries.length + 1
    if (depth > depthMax || members < 0) return false
    const isList = Array.isArray(value)
    return entries.every(([name, one]) => (isList || take(name, depth)) && take(one, depth + 1))
  }
  return take(all, 1)
}

const unfit = (text: string): boolean =>
  text === '__proto__' || text.includes('\0') || !text.isWellFormed()

/** Its depth is bounded by now. */
function isUnfit(value: unknown): boolean {
  if (typeof value === 'string') return value !== '__proto__' && unfit(value)
  if (Array.isArray(value)) return value.some(isUnfit)
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([name, one]) => unfit(name) || isUnfit(one))
}

interface Found {
  readonly path: string
  readonly method: string
  readonly shared: Json
  readonly own: Json
}

function operationOf(
  source: DocumentSource,
  { path, method, shared, own }: Found,
): Operation | string {
  const byPlace = parametersOf(source, [
    ...listIn(shared, 'parameters'),
    ...listIn(own, 'parameters'),
  ])
  const placeholders = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  if (
    placeholders.some((name) => name === '') ||
    new Set(placeholders).size < placeholders.length
  ) {
    return `the path '${shown(path)}' has a placeholder twice, or one without a name`
  }
  const inPath = new Map((byPlace.get('path') ?? []).map((one) => [one.name, one]))
  const request = requestOf(source, own, byPlace)
  const responses = responsesOf(source, own)
  const description = textIn(own, 'description') ?? textIn(shared, 'description')
  return {
    displayName: (
      textIn(own, 'summary') ??
      textIn(own, 'operationId') ??
      `${method} ${path}`
    ).slice(0, 300),
    method: method.toUpperCase(),
    urlTemplate: path,
    ...(description === undefined ? {} : { description: description.slice(0, 1000) }),
    templateParameters: placeholders.map(
      (name): Parameter => inPath.get(name) ?? { name, type: 'string', required: true },
    ),
    ...(request === undefined ? {} : { request }),
    responses,
  }
}

function requestOf(
  source: DocumentSource,
  own: Json,
  byPlace: ReadonlyMap<string, readonly Parameter[]>,
): OperationRequest | undefined {
  const body = source.resolved(own['requestBody'])
  const description = textIn(body, 'description')
  const headers = byPlace.get('header')
  const queryParameters = byPlace.get('query')
  const representations = representationsOf(source, body)
  const request: OperationRequest = {
    ...(description === undefined ? {} : { description: description.slice(0, 1000) }),
    ...(headers === undefined ? {} : { headers }),
    ...(queryParameters === undefined ? {} : { queryParameters }),
    ...(representations.length === 0 ? {} : { representations }),
  }
  return Object.keys(request).length === 0 ? undefined : request
}

function responsesOf(source: DocumentSource, own: Json): readonly OperationResponse[] {
  return source.entries(objectIn(own, 'responses')).flatMap(([status, given]) => {
    // `default` and `4XX` are no status codes.
    if (!/^[1-5]\d\d$/.test(status)) return []
    const response = source.resolved(given)
    const description = textIn(response, 'description')
    const headers = source
      .entries(objectIn(response, 'headers'))
      .map(([name, header]) => parameterOf(source, { ...source.resolved(header), name }))
    const representations = representationsOf(source, response)
    return [
      {
        statusCode: Number(status),
        ...(description === undefined ? {} : { description: description.slice(0, 1000) }),
        ...(headers.length === 0 ? {} : { headers }),
        ...(representations.length === 0 ? {} : { representations }),
      },
    ]
  })
}

function representationsOf(source: DocumentSource, holder: Json): readonly Representation[] {
  return source.entries(objectIn(holder, 'content')).map(([contentType, given]) => {
    const media = isJsonObject(given) ? given : {}
    const examples = examplesOf(source, media)
    const sample = Object.values(examples)[0]?.value
    const isForm = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(
      contentType,
    )
    return {
      contentType: contentType.slice(0, 300),
      ...(sample === undefined ? {} : { sample: source.text(sample) }),
      ...(isForm ? { formParameters: formParameters(source, media) } : {}),
      ...(Object.keys(examples).length === 0 ? {} : { examples }),
    }
  })
}

function examplesOf(
  source: DocumentSource,
  media: Json,
): Readonly<Record<string, { value: unknown }>> {
  const own = media['example']
  if (own !== undefined) {
    source.spend(own)
    return { default: { value: own } }
  }
  const found = source.entries(objectIn(media, 'examples')).flatMap(([name, given]) => {
    const { value } = source.resolved(given)
    if (value === undefined) return []
    source.spend(value)
    return [[name, { value }] as const]
  })
  return fromMembers(found)
}

function formParameters(source: DocumentSource, media: Json): readonly Parameter[] {
  const schema = source.resolved(media['schema'])
  const required = new Set(listIn(schema, 'required'))
  return source
    .entries(objectIn(schema, 'properties'))
    .map(([name, of]) => parameterOf(source, { name, schema: of, required: required.has(name) }))
}

/** Parameters by their location. One of an operation replaces the one of its path. */
function parametersOf(
  source: DocumentSource,
  given: readonly unknown[],
): ReadonlyMap<string, readonly Parameter[]> {
  const found = new Map<string, { place: string; parameter: Parameter }>()
  for (const one of given) {
    if (source.isSpent) break
    const declared = source.resolved(one)
    const place = textIn(declared, 'in')
    const name = textIn(declared, 'name')
    if (place === undefined || name === undefined) continue
    found.set(`${place} ${name}`, { place, parameter: parameterOf(source, declared) })
  }
  const byPlace = new Map<string, Parameter[]>()
  for (const { place, parameter } of found.values()) {
    const there = byPlace.get(place)
    if (there === undefined) byPlace.set(place, [parameter])
    else there.push(parameter)
  }
  return byPlace
}

function parameterOf(source: DocumentSource, declared: Json): Parameter {
  const schema = source.resolved(declared['schema'])
  const type = schema['type']
  const description = textIn(declared, 'description')
  const values = listIn(schema, 'enum')
  source.spend(declared['name'])
  source.spend(description)
  const standard = schema['default']
  return {
    name: String(declared['name']).slice(0, 256),
    type: typeof type === 'string' ? type : 'string',
    ...(declared['required'] === true || declared['in'] === 'path' ? { required: true } : {}),
    ...(description === undefined ? {} : { description: description.slice(0, 1000) }),
    ...(standard === undefined ? {} : { defaultValue: source.text(standard) }),
    ...(values.length === 0 ? {} : { values: values.map((one) => source.text(one)) }),
  }
}

function nameOfOperation(own: Json, key: string): string {
  const plain = (textIn(own, 'operationId') ?? key).replace(/[^A-Za-z0-9._-]+/g, '-')
  const name = withoutTrailing(plain, '-')
    .replace(/^-+/, '')
    .slice(0, nameLengthMax - 5)
  return name === '' ? 'operation' : name
}

function freshName(wanted: string, names: Set<string>): string {
  let name = wanted
  for (let at = 2; names.has(name.toLowerCase()); at++) name = `${wanted}-${at}`
  names.add(name.toLowerCase())
  return name
}

function objectIn(holder: Json, key: string): Json {
  return objectOf(Object.hasOwn(holder, key) ? holder[key] : undefined)
}

function listIn(holder: Json, key: string): readonly unknown[] {
  return listOf(Object.hasOwn(holder, key) ? holder[key] : undefined)
}

function textIn(holder: unknown, key: string): string | undefined {
  const value = isJsonObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

function shown(text: string): string {
  return text.slice(0, 100).toWellFormed()
}
