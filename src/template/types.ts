/**
 * Types of parameters and outputs: their constraints, user types by `$ref`, and whether a value fits. No message
 * ever holds a value, since it could be a secret.
 */
import {
  countIn,
  type Field,
  fieldOf,
  isArray,
  isObject,
  kindOf,
  membersOf,
  refuseTwice,
} from './fields.ts'
import { type Place, pathIn, placeIn } from './place.ts'
import type { Json } from './plan.ts'
import type { Problems } from './problems.ts'
import type { ParameterDeclaration } from './template.ts'

export type TypeName = ParameterDeclaration['type'] | 'any'

/** How a type is shown in a deployment's record. */
export const shownTypes: Readonly<Record<TypeName, string>> = {
  string: 'String',
  securestring: 'SecureString',
  int: 'Int',
  bool: 'Bool',
  object: 'Object',
  secureobject: 'SecureObject',
  array: 'Array',
  any: 'Any',
}

export interface Schema {
  readonly type?: TypeName
  /** The name of a user type, in lower case. */
  readonly reference?: string
  readonly nullable: boolean
  readonly allowed?: Allowed
  readonly minValue?: number
  readonly maxValue?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly properties?: ReadonlyMap<string, Schema>
  /** `false`: no others; a schema: others are of it. */
  readonly additionalProperties?: Schema | false
  readonly discriminator?: {
    readonly propertyName: string
    readonly mapping: ReadonlyMap<string, Schema>
  }
}

/** The values that are allowed, made ready once: there may be many, and many values to look up. */
interface Allowed {
  readonly texts: ReadonlySet<string>
  /** For messages. */
  readonly shown: string
}

/** The section `definitions`, by name in lower case. */
export type Definitions = ReadonlyMap<string, Schema>

export function readDefinitions(section: Field | undefined, problems: Problems): Definitions {
  const members = membersOf(section, "'definitions'", problems)
  refuseTwice(members, 'the type', problems)
  const definitions = new Map(
    members.map(([name, field]) => [name.toLowerCase(), readSchema(field, problems)] as const),
  )
  for (const [name, field] of members) {
    const isEndless = resolved({ nullable: false, reference: name.toLowerCase() }, definitions)
    if (isEndless === undefined)
      problems.add(field.place, 'refers to a type that is not there, or to itself')
  }
  return definitions
}

const referencePattern = /^#\/definitions\/([^/]+)$/

export function readSchema({ value, place }: Field, problems: Problems): Schema {
  if (!isObject(value)) {
    problems.add(place, `expected a type, that is an object, not ${kindOf(value)}`)
    return { nullable: false }
  }
  const at = (name: string): Field | undefined => fieldOf(value, place, name)
  const numbers = (name: string, least: number): number | undefined =>
    countIn(at(name), least, Number.MAX_SAFE_INTEGER, problems)
  const minValue = numbers('minValue', Number.MIN_SAFE_INTEGER)
  const maxValue = numbers('maxValue', Number.MIN_SAFE_INTEGER)
  const minLength = numbers('minLength', 0)
  const maxLength = numbers('maxLength', 0)
  const allowed = at('allowedValues')
  if (allowed !== undefined && !isArray(allowed.value)) {
    problems.add(allowed.place, `expected an array, not ${kindOf(allowed.value)}`)
  }
  const nullable = at('nullable')
  if (nullable !== undefined && typeof nullable.value !== 'boolean') {
    problems.add(nullable.place, 'expected true or false')
  }
  if (minValue !== undefined && maxValue !== undefined && minValue > maxValue) {
    problems.add(place, "'minValue' is larger than 'maxValue'")
  }
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength) {
    problems.add(place, "'minLength' is larger than 'maxLength'")
  }
  return {
    ...readName(at('type'), at('$ref'), place, problems),
    nullable: nullable?.value === true,
    ...(isArray(allowed?.value) ? { allowed: allowedOf(allowed.value) } : {}),
    ...(minValue === undefined ? {} : { minValue }),
    ...(maxValue === undefined ? {} : { maxValue }),
    ...(minLength === undefined ? {} : { minLength }),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...readInside(at, problems),
  }
}

function readName(
  type: Field | undefined,
  reference: Field | undefined,
  place: Place,
  problems: Problems,
): Pick<Schema, 'type' | 'reference'> {
  if (reference !== undefined) {
    const name = referencePattern.exec(String(reference.value))?.[1]
    if (name === undefined) {
      problems.add(reference.place, "expected '#/definitions/' and the name of a type")
      return {}
    }
    return { reference: decodePointer(name).toLowerCase() }
  }
  if (type === undefined) return {}
  const name = String(type.value).toLowerCase()
  if (Object.hasOwn(shownTypes, name) && name !== 'any') return { type: name as TypeName } // a key of it
  problems.add(
    type.place ?? place,
    'expected one of string, securestring, int, bool, object, secureObject, array',
  )
  return { type: 'any' }
}

function decodePointer(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}

function readInside(
  at: (name: string) => Field | undefined,
  problems: Problems,
): Pick<Schema, 'items' | 'prefixItems' | 'properties' | 'additionalProperties' | 'discriminator'> {
  const items = at('items')
  const prefix = at('prefixItems')
  const properties = at('properties')
  const additional = at('additionalProperties')
  const discriminator = at('discriminator')
  return {
    ...(items === undefined || items.value === false ? {} : { items: readSchema(items, problems) }),
    ...(isArray(prefix?.value)
      ? {
          prefixItems: prefix.value.map((value, index) =>
            readSchema({ value, place: placeIn(prefix.place, index) }, problems),
          ),
        }
      : {}),
    ...(properties === undefined ? {} : { properties: schemasOf(properties, problems) }),
    ...readAdditional(additional, problems),
    ...readDiscriminator(discriminator, problems),
  }
}

function readAdditional(
  field: Field | undefined,
  problems: Problems,
): Pick<Schema, 'additionalProperties'> {
  if (field === undefined || field.value === true) return {}
  if (field.value === false) return { additionalProperties: false }
  return { additionalProperties: readSchema(field, problems) }
}

function readDiscriminator(
  field: Field | undefined,
  problems: Problems,
): Pick<Schema, 'discriminator'> {
  if (field === undefined) return {}
  const { value, place } = field
  const name = isObject(value) ? fieldOf(value, place, 'propertyName')?.value : undefined
  const mapping = isObject(value) ? fieldOf(value, place, 'mapping') : undefined
  if (typeof name !== 'string' || mapping === undefined) {
    problems.add(place, "a discriminator needs 'propertyName' and 'mapping'")
    return {}
  }
  const schemas = schemasOf(mapping, problems)
  return { discriminator: { propertyName: name, mapping: schemas } }
}

function schemasOf(field: Field, problems: Problems): ReadonlyMap<string, Schema> {
  return new Map(
    membersOf(field, 'this', problems).map(([name, one]) => [name, readSchema(one, problems)]),
  )
}

/** With user types followed: what is said beside a `$ref` adds to the type. Undefined when it leads nowhere. */
export function resolved(schema: Schema, definitions: Definitions): Schema | undefined {
  const seen = new Set<string>()
  let made = schema
  while (made.reference !== undefined) {
    const { reference, ...rest } = made
    const target = seen.has(reference) ? undefined : definitions.get(reference)
    if (target === undefined) return undefined
    seen.add(reference)
    made = { ...target, ...rest, nullable: target.nullable || rest.nullable }
  }
  return made
}

export function isSecure(schema: Schema, definitions: Definitions): boolean {
  return resolved(schema, definitions)?.type?.startsWith('secure') === true
}

/** Does the value fit? Every way in which it does not is told, with the path inside the value. */
export type Misfit = (path: string, message: string) => void

export function checkValue(
  given: Schema,
  value: Json,
  definitions: Definitions,
  misfit: Misfit,
  path = '',
): void {
  const schema = resolved(given, definitions)
  if (schema === undefined) return
  if (value === null) {
    if (!schema.nullable && schema.type !== undefined)
      misfit(path, `expected ${named(schema)}, not null`)
    return
  }
  if (!isOfType(value, schema.type)) {
    misfit(path, `expected ${named(schema)}, not ${kindOf(value)}`)
    return
  }
  if (schema.allowed !== undefined && !isAllowed(value, schema.allowed)) {
    misfit(path, `the value is not one of the allowed ones: ${schema.allowed.shown}`)
  }
  checkBounds(schema, value, misfit, path)
  if (isArray(value)) checkItems(schema, value, definitions, misfit, path)
  if (isObject(value)) checkMembers(schema, value, definitions, misfit, path)
}

function named({ type = 'any' }: Schema): string {
  const article = type === 'int' || type === 'object' || type === 'array' ? 'an' : 'a'
  return `${article} ${type.replace('secure', 'secure ')}`
}

function isOfType(value: Json, type: TypeName | undefined): boolean {
  if (type === 'string' || type === 'securestring') return typeof value === 'string'
  if (type === 'int') return typeof value === 'number' && Number.isInteger(value)
  if (type === 'bool') return typeof value === 'boolean'
  if (type === 'array') return isArray(value)
  if (type === 'object' || type === 'secureobject') return isObject(value)
  return true
}

/** Of an array every element may be one of the allowed values. */
function isAllowed(value: Json, { texts }: Allowed): boolean {
  const has = (one: Json): boolean => texts.has(JSON.stringify(one))
  return has(value) || (isArray(value) && value.every(has))
}

function allowedOf(values: readonly Json[]): Allowed {
  return { texts: new Set(values.map((one) => JSON.stringify(one))), shown: shown(values) }
}

const shownMax = 30

function shown(values: readonly Json[]): string {
  const text = values
    .slice(0, shownMax)
    .map((one) => JSON.stringify(one))
    .join(', ')
  const isWhole = values.length <= shownMax && text.length <= 300
  return isWhole ? text : `${text.slice(0, 300)}…`
}

function checkBounds(schema: Schema, value: Json, misfit: Misfit, path: string): void {
  const { minValue, maxValue, minLength, maxLength } = schema
  if (typeof value === 'number') {
    if (minValue !== undefined && value < minValue)
      misfit(path, `the value is less than ${minValue}`)
    if (maxValue !== undefined && value > maxValue)
      misfit(path, `the value is more than ${maxValue}`)
  }
  if (typeof value !== 'string' && !isArray(value)) return
  const what = typeof value === 'string' ? 'characters' : 'elements'
  if (minLength !== undefined && value.length < minLength) {
    misfit(path, `expected at least ${minLength} ${what}, not ${value.length}`)
  }
  if (maxLength !== undefined && value.length > maxLength) {
    misfit(path, `expected at most ${maxLength} ${what}, not ${value.length}`)
  }
}

function checkItems(
  { items, prefixItems = [] }: Schema,
  value: readonly Json[],
  definitions: Definitions,
  misfit: Misfit,
  path: string,
): void {
  for (const [at, one] of value.entries()) {
    const schema = prefixItems[at] ?? items
    if (schema !== undefined) checkValue(schema, one, definitions, misfit, pathIn(path, at))
  }
  for (let at = value.length; at < prefixItems.length; at += 1) {
    if (prefixItems[at]?.nullable !== true) misfit(pathIn(path, at), 'is required')
  }
}

function checkMembers(
  schema: Schema,
  value: { readonly [name: string]: Json },
  definitions: Definitions,
  misfit: Misfit,
  path: string,
): void {
  const { properties, additionalProperties, discriminator } = schema
  const given = new Map(Object.entries(value).map(([name, one]) => [name.toLowerCase(), one]))
  if (discriminator !== undefined) {
    const { propertyName, mapping } = discriminator
    const kind = given.get(propertyName.toLowerCase())
    const chosen = typeof kind === 'string' ? mapping.get(kind) : undefined
    const variant = chosen === undefined ? undefined : resolved(chosen, definitions)
    if (variant !== undefined) {
      // A variant that chooses once more could choose itself for ever.
      const { discriminator: _again, ...rest } = variant
      checkValue(rest, value, definitions, misfit, path)
      return
    }
    misfit(pathIn(path, propertyName), `expected one of ${shown([...mapping.keys()])}`)
    return
  }
  const declared = new Set<string>()
  for (const [name, inner] of properties ?? []) {
    declared.add(name.toLowerCase())
    const one = given.get(name.toLowerCase())
    const at = pathIn(path, name)
    if (one !== undefined) checkValue(inner, one, definitions, misfit, at)
    else if (resolved(inner, definitions)?.nullable !== true) misfit(at, 'is required')
  }
  if (additionalProperties === undefined) return
  for (const [name, one] of Object.entries(value)) {
    if (declared.has(name.toLowerCase())) continue
    const at = pathIn(path, name)
    if (additionalProperties === false) misfit(at, 'is not a property of this type')
    else checkValue(additionalProperties, one, definitions, misfit, at)
  }
}
