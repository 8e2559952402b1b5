/**
 * An OpenAPI 3 document made into an API and its operations: template parameters, query and header parameters,
 * representations of bodies and answers with their examples. Schemas are not kept. Pure; whatever is wrong with a document
 * comes back in words.
 */

import { parseDocument } from 'yaml'
import { isJsonObject } from '#kernel/patch.ts'
import type {
  Operation,
  OperationRequest,
  OperationResponse,
  Parameter,
  Representation,
} from '../../resources/operations/model.ts'

type Json = Readonly<Record<string, unknown>>

export interface ImportedOperation {
  readonly name: string
  readonly model: Operation
}

interface ImportedApi {
  readonly title: string | undefined
  readonly description: string | undefined
  readonly serviceUrl: string | undefined
  readonly operations: readonly ImportedOperation[]
}

export const importFormats = ['openapi', 'openapi+json'] as const

const operationsMax = 500
/** A document in YAML takes far longer to read than one in JSON. */
const yamlLengthMax = 256 * 1024
const nameLengthMax = 80
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** The API of a document, or what is wrong with it. */
export function readOpenApi(text: string): ImportedApi | string {
  const document = parsed(text)
  if (typeof document === 'string') return document
  const version = document['openapi']
  if (typeof version !== 'string' || !version.startsWith('3.')) {
    return 'expected an OpenAPI document of version 3, whose member `openapi` says so'
  }
  const info = objectIn(document, 'info')
  const [server] = listIn(document, 'servers')
  const url = textIn(server, 'url')
  const operations: ImportedOperation[] = []
  const names = new Set<string>()
  const seen = new Set<string>()
  for (const [path, item] of Object.entries(objectIn(document, 'paths'))) {
    if (!path.startsWith('/') || path.length > 1000) return `the path '${shown(path)}' is none`
    const shared = resolved(document, item)
    for (const method of methods) {
      if (!isJsonObject(shared[method])) continue
      const model = operationOf(document, { path, method, shared, own: shared[method] })
      if (typeof model === 'string') return model
      const key = `${model.method} ${model.urlTemplate}`
      if (seen.has(key)) return `the operation '${shown(key)}' is there twice`
      seen.add(key)
      operations.push({
        name: freshName(nameOfOperation(shared[method], `${method} ${path}`), names),
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

function parsed(text: string): Json | string {
  const isJson = text.trimStart().startsWith('{')
  if (!isJson && text.length > yamlLengthMax) {
    return `a document in YAML has at most ${yamlLengthMax} characters; send it as JSON`
  }
  // JSON is YAML, too; the reader tells problems instead of throwing them.
  const value: unknown = isJson ? jsonIn(text) : yamlIn(text)
  return isJsonObject(value) ? value : 'it can be read neither as JSON nor as YAML'
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function yamlIn(text: string): unknown {
  const document = parseDocument(text, { logLevel: 'silent' })
  if (document.errors.length > 0) return undefined
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch {
    // More aliases than anybody writes.
    return undefined
  }
}

interface Found {
  readonly path: string
  readonly method: string
  readonly shared: Json
  readonly own: Json
}

function operationOf(document: Json, { path, method, shared, own }: Found): Operation | string {
  const byPlace = parametersOf(document, [
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
  const request = requestOf(document, own, byPlace)
  const responses = responsesOf(document, own)
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
  document: Json,
  own: Json,
  byPlace: ReadonlyMap<string, readonly Parameter[]>,
): OperationRequest | undefined {
  const body = resolved(document, own['requestBody'])
  const description = textIn(body, 'description')
  const headers = byPlace.get('header')
  const queryParameters = byPlace.get('query')
  const representations = representationsOf(document, body)
  const request: OperationRequest = {
    ...(description === undefined ? {} : { description: description.slice(0, 1000) }),
    ...(headers === undefined ? {} : { headers }),
    ...(queryParameters === undefined ? {} : { queryParameters }),
    ...(representations.length === 0 ? {} : { representations }),
  }
  return Object.keys(request).length === 0 ? undefined : request
}

function responsesOf(document: Json, own: Json): readonly OperationResponse[] {
  return Object.entries(objectIn(own, 'responses')).flatMap(([status, given]) => {
    // `default` and `4XX` are no status code.
    if (!/^[1-5]\d\d$/.test(status)) return []
    const response = resolved(document, given)
    const description = textIn(response, 'description')
    const headers = Object.entries(objectIn(response, 'headers')).map(([name, header]) =>
      parameterOf(document, { ...resolved(document, header), name }),
    )
    const representations = representationsOf(document, response)
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

function representationsOf(document: Json, holder: Json): readonly Representation[] {
  return Object.entries(objectIn(holder, 'content')).map(([contentType, given]) => {
    const media = isJsonObject(given) ? given : {}
    const examples = examplesOf(document, media)
    const sample = Object.values(examples)[0]?.value
    const isForm = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(
      contentType,
    )
    return {
      contentType: contentType.slice(0, 300),
      ...(sample === undefined ? {} : { sample: asText(sample) }),
      ...(isForm ? { formParameters: formParameters(document, media) } : {}),
      ...(Object.keys(examples).length === 0 ? {} : { examples }),
    }
  })
}

function examplesOf(document: Json, media: Json): Readonly<Record<string, { value: unknown }>> {
  if (media['example'] !== undefined) return { default: { value: media['example'] } }
  const found = Object.entries(objectIn(media, 'examples')).flatMap(([name, given]) => {
    const { value } = resolved(document, given)
    return value === undefined ? [] : [[name, { value }] as const]
  })
  return Object.fromEntries(found)
}

function formParameters(document: Json, media: Json): readonly Parameter[] {
  const schema = resolved(document, media['schema'])
  const required = new Set(listIn(schema, 'required'))
  return Object.entries(objectIn(schema, 'properties')).map(([name, of]) =>
    parameterOf(document, { name, schema: of, required: required.has(name) }),
  )
}

/** By where they are; one that an operation declares again replaces that of its path. */
function parametersOf(
  document: Json,
  given: readonly unknown[],
): ReadonlyMap<string, readonly Parameter[]> {
  const found = new Map<string, { place: string; parameter: Parameter }>()
  for (const one of given) {
    const declared = resolved(document, one)
    const place = textIn(declared, 'in')
    const name = textIn(declared, 'name')
    if (place === undefined || name === undefined) continue
    found.set(`${place} ${name}`, { place, parameter: parameterOf(document, declared) })
  }
  const byPlace = new Map<string, Parameter[]>()
  for (const { place, parameter } of found.values()) {
    byPlace.set(place, [...(byPlace.get(place) ?? []), parameter])
  }
  return byPlace
}

function parameterOf(document: Json, declared: Json): Parameter {
  const schema = resolved(document, declared['schema'])
  const type = schema['type']
  const description = textIn(declared, 'description')
  const values = listIn(schema, 'enum')
  const standard = schema['default']
  return {
    name: String(declared['name']).slice(0, 256),
    type: typeof type === 'string' ? type : 'string',
    ...(declared['required'] === true || declared['in'] === 'path' ? { required: true } : {}),
    ...(description === undefined ? {} : { description: description.slice(0, 1000) }),
    ...(standard === undefined ? {} : { defaultValue: asText(standard) }),
    ...(values.length === 0 ? {} : { values: values.map(asText) }),
  }
}

/** What a reference within the document leads to, a few steps on; an empty object where that is nothing. */
function resolved(document: Json, given: unknown): Json {
  let value = given
  for (let steps = 0; steps < 10; steps++) {
    if (!isJsonObject(value)) return {}
    const reference = value['$ref']
    if (typeof reference !== 'string') return value
    if (!reference.startsWith('#/')) return {}
    let at: unknown = document
    for (const word of reference.slice(2).split('/')) {
      const key = word.replaceAll('~1', '/').replaceAll('~0', '~')
      at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
    }
    value = at
  }
  return {}
}

function nameOfOperation(own: Json, key: string): string {
  const name = (textIn(own, 'operationId') ?? key)
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^-+|-+$/g, '')
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
  const value = Object.hasOwn(holder, key) ? holder[key] : undefined
  return isJsonObject(value) ? value : {}
}

function listIn(holder: Json, key: string): readonly unknown[] {
  const value = Object.hasOwn(holder, key) ? holder[key] : undefined
  return Array.isArray(value) ? value.slice(0, 500) : []
}

function textIn(holder: unknown, key: string): string | undefined {
  const value = isJsonObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function shown(text: string): string {
  return text.slice(0, 100).toWellFormed()
}
