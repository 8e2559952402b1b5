/**
 * Bodies against their schemas: every violation at once, each with the path of the property and what was
 * expected. Schemas are compiled at first use, since a process that starts needs none of them.
 */

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormatsModule from 'ajv-formats'
import type { TSchema } from 'typebox'
import { type ApiError, type Problem, refuseProblems } from '#kernel/error.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { runWithin } from './run-within.ts'

const problemsMax = 100
/** A larger body gets only its first problem reported: the list of all problems could be larger than the body. */
const membersForAll = 5_000

/**
 * Marks a schema that an operator or a caller wrote. Its patterns and alternatives may take very long for a small
 * body, so it is checked with a time limit.
 */
export const foreignMark = 'x-armature-foreign'
const foreignMilliseconds = 100

/** Members of the envelope that any body may contain, because clients send back what they read. */
const envelopeMembers: readonly string[] = [
  'id',
  'name',
  'type',
  'location',
  'tags',
  'systemData',
  'etag',
]

/**
 * Members that a type's own code adds to a body must not come from the caller: removes what the schema does not name.
 */
export function declaredIn(
  { properties }: TSchema & { properties?: object },
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  // The alternatives of such a schema name their members themselves.
  if (properties === undefined) return body
  const isDeclared = (name: string): boolean =>
    envelopeMembers.includes(name) || Object.hasOwn(properties, name)
  const members = Object.entries(body)
  if (members.every(([name]) => isDeclared(name))) return body
  return Object.fromEntries(members.filter(([name]) => isDeclared(name)))
}

// The package is CommonJS: its function is the module itself or its `default`, depending on the loader.
const addFormats = addFormatsModule as unknown as (ajv: Ajv) => void

type UnknownProperties = 'ignore' | 'refuse'

/** Throws one refusal with all problems, made by `refuse` (default: the common one), or returns. */
export function checkSchema(
  schema: TSchema,
  unknownProperties: UnknownProperties,
  body: unknown,
  refuse: (problems: readonly Problem[]) => ApiError = refuseProblems,
): void {
  const allErrors = membersOf(body, membersForAll) < membersForAll
  const validate = validatorOf(schema, unknownProperties, allErrors)
  if (!(foreignMark in schema)) {
    if (validate(body) === true) return
  } else {
    const outcome = runWithin(foreignMilliseconds, () => validate(body))
    if (outcome === 'too-long') {
      throw refuse([{ path: '', message: 'takes too long to check against its schema' }])
    }
    if (outcome.value === true) return
  }
  const problems = explain(validate.errors ?? [])
  // The errors hold the body, and a validator lives as long as its schema.
  validate.errors = null
  throw refuse(problems)
}

/** Compiled once per process, which may hold many installations. */
const compiled = new WeakMap<TSchema, Map<string, ValidateFunction>>()

function validatorOf(
  schema: TSchema,
  unknownProperties: UnknownProperties,
  allErrors: boolean,
): ValidateFunction {
  let ofSchema = compiled.get(schema)
  if (ofSchema === undefined) {
    ofSchema = new Map()
    compiled.set(schema, ofSchema)
  }
  const kind = `${unknownProperties} ${allErrors}`
  const known = ofSchema.get(kind)
  if (known !== undefined) return known
  const ajv = compilerOf(allErrors, foreignMark in schema)
  const taken = unknownProperties === 'refuse' ? closed(schema, true) : schema
  const validate = ajv.compile(taken)
  // Otherwise the compiler would keep the schemas of installations that have ended.
  ajv.removeSchema(taken)
  ofSchema.set(kind, validate)
  return validate
}

const compilers = new Map<string, Ajv>()

/** Validating a schema itself takes a third of its compilation. Our own schemas are correct by their types. */
function compilerOf(allErrors: boolean, isForeign: boolean): Ajv {
  const kind = `${allErrors} ${isForeign}`
  let ajv = compilers.get(kind)
  if (ajv === undefined) {
    const trusted = isForeign ? {} : { validateSchema: false, meta: false }
    ajv = new Ajv({ allErrors, strict: false, verbose: true, ...trusted })
    addFormats(ajv)
    compilers.set(kind, ajv)
  }
  return ajv
}

/** Counts elements and properties at all levels, up to `max`. The depth of bodies is bounded. */
function membersOf(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 0
  // Every body is counted, so no list is made of its members. JSON has no inherited ones.
  let count = 0
  if (Array.isArray(value)) {
    // By name, each element would cost a microsecond.
    for (const element of value) {
      count++
      if (count >= max) return count
      count += membersOf(element, max - count)
    }
    return count
  }
  for (const name in value) {
    count++
    if (count >= max) return count
    const member = (value as Readonly<Record<string, unknown>>)[name]
    count += membersOf(member, max - count)
  }
  return count
}

/** A copy of a schema whose objects refuse properties that they do not name. */
function closed(schema: unknown, top: boolean): object {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (!isJsonObject(value)) return value
    const out: Record<string, unknown> = {}
    for (const [key, member] of Object.entries(value)) out[key] = copy(member)
    if (isJsonObject(out['properties']) && out['additionalProperties'] === undefined) {
      out['additionalProperties'] = false
    }
    return out
  }
  // A schema is an object, and copying keeps it one.
  const out = copy(schema) as Record<string, unknown>
  if (top && isJsonObject(out['properties'])) {
    const extra = envelopeMembers.filter(
      (name) => !Object.hasOwn(out['properties'] as object, name),
    )
    out['properties'] = {
      ...out['properties'],
      ...Object.fromEntries(extra.map((name) => [name, {}])),
    }
  }
  return out
}

/** `/properties/containers/0/name` → `properties.containers[0].name` */
function showPath(pointer: string): string {
  let out = ''
  for (const raw of pointer.split('/').slice(1)) {
    const part = raw.replaceAll('~1', '/').replaceAll('~0', '~')
    if (/^\d+$/.test(part)) out += `[${part}]`
    else out += out === '' ? part : `.${part}`
  }
  return out
}

function explain(errors: readonly ErrorObject[]): readonly Problem[] {
  const problems = new Map<string, string[]>()
  const add = (path: string, message: string): void => {
    const known = problems.get(path)
    if (known === undefined) problems.set(path, [message])
    else if (!known.includes(message)) known.push(message)
  }
  for (const error of errors) {
    if (problems.size >= problemsMax) break
    const path = showPath(error.instancePath)
    switch (error.keyword) {
      case 'required': {
        const name = String(error.params['missingProperty'])
        add(path === '' ? name : `${path}.${name}`, 'is required')
        break
      }
      case 'additionalProperties': {
        const name = String(error.params['additionalProperty'])
        add(path === '' ? name : `${path}.${name}`, 'is not a property of this type')
        break
      }
      case 'type':
        add(path, `expected ${listed(error.params['type'])}, got ${nameOfValue(error.data)}`)
        break
      case 'enum':
        add(path, `expected one of ${listed(error.params['allowedValues'])}`)
        break
      case 'const':
        add(path, `expected ${listed(error.params['allowedValue'])}`)
        break
      case 'oneOf':
        // When no alternative fits, each has already reported what it expected.
        if (error.params['passingSchemas'] !== null) add(path, 'fits more than one alternative')
        break
      case 'anyOf':
        break
      default:
        add(path, error.message ?? `breaks the rule ${error.keyword}`)
    }
  }
  return [...problems].map(([path, messages]) => ({ path, message: messages.join(', or ') }))
}

function listed(value: unknown): string {
  return Array.isArray(value) ? value.map((one) => String(one)).join(', ') : String(value)
}

function nameOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'bigint') return 'one beyond 2^53'
  return Array.isArray(value) ? 'array' : typeof value
}
