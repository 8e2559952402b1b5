/**
 * Types of parameters and outputs: their constraints, and user types by `$ref`. Whether a value fits is decided in
 * `check-value.ts`.
 */
import { exactJsonText } from '#kernel/exact-json.ts'
import { compile } from './compile.ts'
import type { Expression } from './expression.ts'
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
import { isInteger } from './functions/values.ts'
import type { Json } from './plan.ts'
import type { Problems } from './problems.ts'
import { isLambda } from './read-options.ts'
import type { ParameterDeclaration } from './template.ts'
import { childPath, type TemplatePath } from './template-path.ts'

export type TypeName = ParameterDeclaration['type'] | 'any'

/** The name of a type in a deployment's record. */
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
  /** A user type, or a part of one: the text after `#/definitions/`, in lower case. */
  readonly reference?: string
  readonly nullable: boolean
  readonly allowed?: Allowed
  readonly minValue?: number | bigint
  readonly maxValue?: number | bigint
  readonly minLength?: number
  readonly maxLength?: number
  readonly checks?: readonly TypeCheck[]
  /** `false`: no items beyond `prefixItems`. */
  readonly items?: Schema | false
  readonly prefixItems?: readonly Schema[]
  readonly properties?: ReadonlyMap<string, Schema>
  /** `false`: no other properties; a schema: the type of the others. */
  readonly additionalProperties?: Schema | false
  readonly discriminator?: {
    readonly propertyName: string
    readonly mapping: ReadonlyMap<string, Schema>
  }
}

/** A condition by the template's author: a lambda of the value, which has to be true. */
export interface TypeCheck {
  readonly lambda: Expression
  readonly message: string
}

/** The allowed values, prepared once: there may be many, and many values to look up. */
export interface Allowed {
  /** Made by `allowedText`. */
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
    const reference = name.replaceAll('~', '~0').replaceAll('/', '~1').toLowerCase()
    if (resolved({ nullable: false, reference }, definitions) === undefined)
      problems.add(field.path, 'refers to a type that is not there, or to itself')
  }
  return definitions
}

const referencePattern = /^#\/definitions\/([^/]+(\/[^/]+)*)$/

export function readSchema({ value, path }: Field, problems: Problems): Schema {
  if (!isObject(value)) {
    problems.add(path, `expected a type, that is an object, not ${kindOf(value)}`)
    return { nullable: false }
  }
  const at = (name: string): Field | undefined => fieldOf(value, path, name)
  const numbers = (name: string, least: number): number | undefined =>
    countIn(at(name), least, Number.MAX_SAFE_INTEGER, problems)
  const minValue = integerIn(at('minValue'), problems)
  const maxValue = integerIn(at('maxValue'), problems)
  const minLength = numbers('minLength', 0)
  const maxLength = numbers('maxLength', 0)
  const allowed = at('allowedValues')
  if (allowed !== undefined && !isArray(allowed.value)) {
    problems.add(allowed.path, `expected an array, not ${kindOf(allowed.value)}`)
  }
  const nullable = at('nullable')
  if (nullable !== undefined && typeof nullable.value !== 'boolean') {
    problems.add(nullable.path, 'expected true or false')
  }
  if (minValue !== undefined && maxValue !== undefined && minValue > maxValue) {
    problems.add(path, "'minValue' is larger than 'maxValue'")
  }
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength) {
    problems.add(path, "'minLength' is larger than 'maxLength'")
  }
  return {
    ...readName(at('type'), at('$ref'), path, problems),
    nullable: nullable?.value === true,
    ...(isArray(allowed?.value) ? { allowed: allowedOf(allowed.value) } : {}),
    ...(minValue === undefined ? {} : { minValue }),
    ...(maxValue === undefined ? {} : { maxValue }),
    ...(minLength === undefined ? {} : { minLength }),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...readChecks(at('validate'), problems),
    ...readInside(at, problems),
  }
}

/** Lambdas, each with its message behind it; the last one may have none. */
function readChecks(field: Field | undefined, problems: Problems): Pick<Schema, 'checks'> {
  if (field === undefined) return {}
  const { value, path } = field
  const parts = isArray(value) ? value : []
  const checks: TypeCheck[] = []
  for (let at = 0; at < parts.length; at += 2) {
    const [text = null, message = usualMessage] = parts.slice(at, at + 2)
    const here = childPath(path, at)
    const compiled = compile(text, here, { problems, check: () => undefined })
    if (compiled.kind === 'broken') continue
    if (compiled.kind === 'expression' && isLambda(compiled.expression)) {
      checks.push({ lambda: compiled.expression, message: String(message) })
    } else problems.add(here, "expected a lambda of the value: '[lambda(…)]'")
  }
  if (checks.length === 0) problems.add(path, 'expected an array of lambdas and messages')
  return { checks }
}

const usualMessage = 'the value does not fulfil a condition of its type'

function integerIn(field: Field | undefined, problems: Problems): number | bigint | undefined {
  if (field === undefined) return undefined
  if (isInteger(field.value)) return field.value
  problems.add(field.path, 'expected an integer')
  return undefined
}

function readName(
  type: Field | undefined,
  reference: Field | undefined,
  path: TemplatePath,
  problems: Problems,
): Pick<Schema, 'type' | 'reference'> {
  if (reference !== undefined) {
    const name = referencePattern.exec(String(reference.value))?.[1]
    if (name === undefined) {
      problems.add(reference.path, "expected '#/definitions/' and the name of a type")
      return {}
    }
    return { reference: name.toLowerCase() }
  }
  if (type === undefined) return {}
  const name = String(type.value).toLowerCase()
  if (Object.hasOwn(shownTypes, name) && name !== 'any') return { type: name as TypeName } // a key of it
  problems.add(
    type.path ?? path,
    'expected one of string, securestring, int, bool, object, secureObject, array',
  )
  return { type: 'any' }
}

function decodePointer(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}

function readItems(field: Field | undefined, problems: Problems): Pick<Schema, 'items'> {
  if (field === undefined) return {}
  return { items: field.value === false ? false : readSchema(field, problems) }
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
    ...readItems(items, problems),
    ...(isArray(prefix?.value)
      ? {
          prefixItems: prefix.value.map((value, index) =>
            readSchema({ value, path: childPath(prefix.path, index) }, problems),
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
  const { value, path } = field
  const name = isObject(value) ? fieldOf(value, path, 'propertyName')?.value : undefined
  const mapping = isObject(value) ? fieldOf(value, path, 'mapping') : undefined
  if (typeof name !== 'string' || mapping === undefined) {
    problems.add(path, "a discriminator needs 'propertyName' and 'mapping'")
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

/** The number of references followed for one type. It ends a type that refers to itself. */
const referencesMax = 64

/**
 * The type with references followed; members beside a `$ref` are added. Undefined when a reference leads nowhere.
 */
export function resolved(
  schema: Schema,
  definitions: Definitions,
  left = { references: referencesMax },
): Schema | undefined {
  let made = schema
  while (made.reference !== undefined) {
    const { reference, ...rest } = made
    left.references -= 1
    const target = left.references < 0 ? undefined : targetOf(reference, definitions, left)
    if (target === undefined) return undefined
    const checks = [...(target.checks ?? []), ...(rest.checks ?? [])]
    made = { ...target, ...rest, nullable: target.nullable || rest.nullable, checks }
  }
  return made
}

/** The target of a reference: a type, or a part of one. */
function targetOf(
  reference: string,
  definitions: Definitions,
  left: { references: number },
): Schema | undefined {
  const [name = '', ...rest] = reference.split('/').map(decodePointer)
  let at = definitions.get(name)
  for (let steps = rest; at !== undefined && steps.length > 0; ) {
    const whole: Schema | undefined = resolved(at, definitions, left)
    const [step = '', inner = ''] = steps
    if (step === 'items') at = whole?.items === false ? undefined : whole?.items
    else if (step === 'additionalproperties') {
      at = whole?.additionalProperties === false ? undefined : whole?.additionalProperties
    } else if (step === 'properties') at = memberOf(whole?.properties, inner)
    else if (step === 'prefixitems') at = whole?.prefixItems?.[Number(inner)]
    else if (step === 'discriminator') at = memberOf(whole?.discriminator?.mapping, steps[2] ?? '')
    else return undefined
    const wide = step === 'properties' || step === 'prefixitems'
    steps = steps.slice(step === 'discriminator' ? 3 : wide ? 2 : 1)
  }
  return at
}

function memberOf(
  members: ReadonlyMap<string, Schema> | undefined,
  lower: string,
): Schema | undefined {
  for (const [name, schema] of members ?? []) if (name.toLowerCase() === lower) return schema
  return undefined
}

/**
 * Whether the value or any part of it is secure. A value that contains a secure part is secure as a whole. Types
 * may refer to themselves and each other; each reference is followed once.
 */
export function isSecure(schema: Schema, definitions: Definitions): boolean {
  const followed = new Set<string>()
  const waiting = [schema]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (one.reference !== undefined) {
      if (followed.has(one.reference)) continue
      followed.add(one.reference)
    }
    const type = resolved(one, definitions)
    if (type === undefined) continue
    if (type.type?.startsWith('secure') === true) return true
    const { items, additionalProperties } = type
    waiting.push(
      ...(type.properties?.values() ?? []),
      ...(type.prefixItems ?? []),
      ...(type.discriminator?.mapping.values() ?? []),
      ...(typeof items === 'object' ? [items] : []),
      ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
    )
  }
  return false
}

function allowedOf(values: readonly Json[]): Allowed {
  return { texts: new Set(values.map(allowedText)), shown: shown(values) }
}

/** Strings are compared without regard to case. */
export function allowedText(value: Json): string {
  return exactJsonText(typeof value === 'string' ? value.toLowerCase() : value)
}

const shownMax = 30

/** Values for a message, shortened for the reader. */
export function shown(values: readonly Json[]): string {
  const text = values
    .slice(0, shownMax)
    .map((one) => exactJsonText(one))
    .join(', ')
  const isWhole = values.length <= shownMax && text.length <= 300
  return isWhole ? text : `${text.slice(0, 300)}…`
}
