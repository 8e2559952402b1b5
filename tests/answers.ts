/**
 * Compares exchanges with our own OpenAPI documents. A status, property, type or query parameter that the document
 * of an operation does not declare is a fault, so that the documents cannot fall behind. Only exchanges in the
 * contract's vendor words are compared, since the documents use them. Errors and bodies that are no JSON are not.
 */

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Schema = Readonly<Record<string, unknown>>

interface Operation {
  readonly pattern: RegExp
  /** The operation with more of them is the better match. */
  readonly literals: number
  readonly name: string
  readonly responses: Readonly<Record<string, unknown>>
  /** The names of its query parameters, in lower case. */
  readonly query: ReadonlySet<string>
  readonly schemas: Readonly<Record<string, Schema>>
}

interface Exchange {
  readonly method: string
  /** With its query, without a host. */
  readonly path: string
  readonly status: number
  readonly body: unknown
}

const folder = join(import.meta.dirname, '../openapi')
const namespaces = readdirSync(folder)
/** By namespace and version, read on first use: all documents together have about 18 MB. */
const known = new Map<string, ReadonlyMap<string, readonly Operation[]>>()

const exceptions = [
  // Its name follows the brand, which a declaration does not know.
  '.properties.enabledVendorPlans is not declared',
  // The server knows it only to refuse it.
  '?access_token is not declared',
  // Sent to check that an unknown parameter stays in the next link.
  '?x is not declared',
]

/** Fails if `undeclared` finds something. */
export function requireDeclared(exchange: Exchange): void {
  const faults = undeclared(exchange).filter(
    (fault) => !exceptions.some((one) => fault.endsWith(one)),
  )
  assert.deepEqual(faults, [], 'an exchange holds what its OpenAPI document does not declare')
}

/**
 * The parts of an answer that its document does not declare, each with its path; empty if no document describes the
 * exchange.
 */
function undeclared({ method, path, status, body }: Exchange): readonly string[] {
  if (status >= 300 || method === 'HEAD') return []
  const url = new URL(path, 'http://any.example')
  const version = url.searchParams.get('api-version') ?? ''
  const place = decodeURI(url.pathname)
  const matches = operationsOf(place, version, method).filter((one) => one.pattern.test(place))
  const [operation] = matches.toSorted((a, b) => b.literals - a.literals)
  if (operation === undefined) return []
  const { responses, schemas, name, query } = operation
  const unknown = [...url.searchParams.keys()].filter((one) => !query.has(one.toLowerCase()))
  if (unknown.length > 0) return unknown.map((one) => `${name} ${version}: ?${one} is not declared`)
  const declared = responses[String(status)] as
    | { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }
    | undefined
  if (declared === undefined) return [`${name} ${version}: status ${status}`]
  const schema = declared.content?.['application/json']?.schema
  if (typeof body !== 'object' || body === null) return []
  if (schema === undefined) return [`${name} ${version}: a body at ${status}`]
  const faults: string[] = []
  compare({ faults, schemas }, schema, body, '')
  return faults.map((fault) => `${name} ${version}: ${fault}`)
}

/** Operations of the namespaces in the path, and of the common documents. */
function operationsOf(place: string, version: string, method: string): readonly Operation[] {
  const spoken = [...place.matchAll(/\/providers\/([^/]+)/gi)].map(([, name]) =>
    name?.toLowerCase(),
  )
  return namespaces
    .filter((name) => name === 'Vendor.Resources' || spoken.includes(name.toLowerCase()))
    .flatMap((namespace) => {
      const key = `${namespace} ${version}`
      const read = known.get(key) ?? readDocuments(namespace, version)
      known.set(key, read)
      return read.get(method) ?? []
    })
}

/** Operations of a version, or of the nearest one, by method. */
function readDocuments(
  namespace: string,
  version: string,
): ReadonlyMap<string, readonly Operation[]> {
  const operations = new Map<string, Operation[]>()
  for (const file of readdirSync(join(folder, namespace))) {
    const text = readFileSync(join(folder, namespace, file), 'utf8')
    if (!text.includes(`"${version}"`)) continue
    // Our own documents.
    const { info, paths, components } = JSON.parse(text)
    for (const [path, item] of Object.entries<Record<string, Schema>>(paths)) {
      const { pattern, literals } = patternOf(path)
      for (const [verb, operation] of Object.entries(item)) {
        if (verb === 'parameters') continue
        const alike = (operation['x-alike-versions'] ?? []) as readonly string[]
        if (info.version !== version && !alike.includes(version)) continue
        const method = verb.toUpperCase()
        const one = {
          pattern,
          literals,
          name: `${method} ${path}`,
          responses: operation['responses'] as Readonly<Record<string, unknown>>,
          query: new Set(queryOf(operation)),
          schemas: components.schemas,
        }
        operations.set(method, [...(operations.get(method) ?? []), one])
      }
    }
  }
  return operations
}

function queryOf(operation: Schema): readonly string[] {
  const declared = (operation['parameters'] ?? []) as readonly { readonly name: string }[]
  return ['api-version', ...declared.map(({ name }) => name.toLowerCase())]
}

function patternOf(path: string): { readonly pattern: RegExp; readonly literals: number } {
  const words = path.split('/').slice(1)
  const text = words.map((word) => {
    if (word === '{scope}') return '(?:/.+)?'
    return word.startsWith('{') ? '/[^/]+' : `/${word.replaceAll('.', '\\.')}`
  })
  return {
    pattern: new RegExp(`^${text.join('')}/?$`, 'i'),
    literals: words.filter((word) => !word.startsWith('{')).length,
  }
}

interface Comparison {
  readonly faults: string[]
  readonly schemas: Readonly<Record<string, Schema>>
}

function compare(to: Comparison, schema: Schema, value: unknown, at: string): void {
  const all = membersOf(to, schema)
  const choices = all.flatMap((part) => (part['anyOf'] ?? part['oneOf'] ?? []) as Schema[])
  if (choices.length > 0) {
    const outcomes = choices.map((choice) => {
      const faults: string[] = []
      const others = all.filter((part) => !('anyOf' in part) && !('oneOf' in part))
      compare({ ...to, faults }, { allOf: [...others, choice] }, value, at)
      return faults
    })
    const [best = []] = outcomes.toSorted((a, b) => a.length - b.length)
    to.faults.push(...best)
    return
  }
  for (const { type, enum: words, const: only } of all) {
    const types = type === undefined ? [] : [type].flat()
    const isNumber = types.includes('number') && isWhole(value)
    if (types.length > 0 && !types.includes(kindOf(value)) && !isNumber) {
      to.faults.push(`${at} is ${kindOf(value)}, not ${String(type)}`)
      return
    }
    if (Array.isArray(words) && !words.includes(value)) {
      to.faults.push(`${at} is ${JSON.stringify(value)}, none of the declared words`)
    }
    if (only !== undefined && only !== value) to.faults.push(`${at} is not ${String(only)}`)
  }
  if (Array.isArray(value)) {
    const items = all.map((part) => part['items']).find((one) => one !== undefined)
    if (items !== undefined) {
      for (const one of value) compare(to, items as Schema, one, `${at}[]`)
    }
  } else if (typeof value === 'object' && value !== null) {
    compareObject(to, all, value, at)
  }
}

function compareObject(to: Comparison, all: readonly Schema[], value: object, at: string): void {
  const properties: Record<string, Schema[]> = {}
  const patterns = all.flatMap((part) =>
    Object.entries((part['patternProperties'] ?? {}) as Schema),
  )
  let isOpen = patterns.length === 0
  for (const part of all) {
    for (const [name, one] of Object.entries((part['properties'] ?? {}) as Schema)) {
      properties[name] = [...(properties[name] ?? []), one as Schema]
      isOpen = false
    }
  }
  const more = all.map((part) => part['additionalProperties']).find((one) => one !== undefined)
  for (const part of all) {
    for (const name of (part['required'] ?? []) as readonly string[]) {
      if (!Object.hasOwn(value, name)) to.faults.push(`${at}.${name} is missing`)
    }
  }
  for (const [name, one] of Object.entries(value)) {
    const place = `${at}.${name}`
    const declared = properties[name]
    const pattern = patterns.find(([text]) => new RegExp(text).test(name))
    if (one === undefined) continue
    if (declared !== undefined) compare(to, { allOf: declared }, one, place)
    else if (pattern !== undefined) compare(to, pattern[1] as Schema, one, `${at}.*`)
    else if (typeof more === 'object' && more !== null) compare(to, more as Schema, one, `${at}.*`)
    else if (more !== true && !isOpen) to.faults.push(`${place} is not declared`)
  }
}

/** A schema and the schemas it is composed of. */
function membersOf(to: Comparison, schema: Schema): readonly Schema[] {
  const { $ref, allOf, ...own } = schema as { readonly $ref?: string; readonly allOf?: Schema[] }
  const named = $ref === undefined ? undefined : to.schemas[$ref.split('/').at(-1) ?? '']
  return [
    own,
    ...(named === undefined ? [] : membersOf(to, named)),
    ...(allOf ?? []).flatMap((one) => membersOf(to, one)),
  ]
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return isWhole(value) ? 'integer' : typeof value
}

function isWhole(value: unknown): boolean {
  return Number.isInteger(value)
}
