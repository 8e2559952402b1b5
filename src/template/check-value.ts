/** Checks whether a value matches its type. Every mismatch is reported; no message contains a value. */
import { callOf } from './expression.ts'
import { isArray, isObject, kindOf } from './fields.ts'
import { isInteger } from './functions/values.ts'
import { LoneScope } from './lone-scope.ts'
import type { Json } from './plan.ts'
import { expressionOf } from './print-expression.ts'
import { appendPath } from './template-path.ts'
import {
  type Allowed,
  allowedText,
  type Definitions,
  resolved,
  type Schema,
  shown,
  type TypeCheck,
  type TypeName,
} from './types.ts'

/** Receives one mismatch, with the path inside the value. */
type ReportMismatch = (path: string, message: string) => void

interface Check {
  readonly definitions: Definitions
  readonly misfit: ReportMismatch
  /** For the conditions of all parts of the value. */
  readonly scope: LoneScope
}

export function checkValue(
  given: Schema,
  value: Json,
  definitions: Definitions,
  misfit: ReportMismatch,
): void {
  checkAt(given, value, { definitions, misfit, scope: new LoneScope() }, '')
}

function checkAt(given: Schema, value: Json, check: Check, path: string): void {
  const { definitions, misfit } = check
  const schema = resolved(given, definitions)
  if (schema === undefined) return
  if (value === null) {
    if (!schema.nullable && schema.type !== undefined && schema.type !== 'any')
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
  for (const one of schema.checks ?? []) {
    if (!holds(one, value, check.scope)) misfit(path, one.message)
  }
  if (isArray(value)) checkItems(schema, value, check, path)
  if (isObject(value)) checkMembers(schema, value, check, path)
}

function named({ type = 'any' }: Schema): string {
  const article = type === 'int' || type === 'object' || type === 'array' ? 'an' : 'a'
  return `${article} ${type.replace('secure', 'secure ')}`
}

function isOfType(value: Json, type: TypeName | undefined): boolean {
  if (type === 'string' || type === 'securestring') return typeof value === 'string'
  if (type === 'int') return isInteger(value)
  if (type === 'bool') return typeof value === 'boolean'
  if (type === 'array') return isArray(value)
  if (type === 'object' || type === 'secureobject') return isObject(value)
  return true
}

/** For an array, every element must be one of the allowed values. */
function isAllowed(value: Json, { texts }: Allowed): boolean {
  const has = (one: Json): boolean => texts.has(allowedText(one))
  return has(value) || (isArray(value) && value.every(has))
}

function checkBounds(schema: Schema, value: Json, misfit: ReportMismatch, path: string): void {
  const { minValue, maxValue, minLength, maxLength } = schema
  if (typeof value === 'number' || typeof value === 'bigint') {
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

/** Evaluates `filter(createArray(value), lambda(…))`: the element is left where it is true. One that fails does not hold. */
function holds({ lambda }: TypeCheck, value: Json, scope: LoneScope): boolean {
  const { at } = lambda
  const element = callOf(at, 'createArray', expressionOf(value, at))
  const done = scope.try(callOf(at, 'filter', element, lambda))
  return done.kind === 'value' && isArray(done.value) && done.value.length === 1
}

function checkItems(
  { items, prefixItems = [] }: Schema,
  value: readonly Json[],
  check: Check,
  path: string,
): void {
  const { misfit } = check
  for (const [at, one] of value.entries()) {
    const schema = prefixItems[at] ?? items
    if (schema === false) misfit(appendPath(path, at), 'is one element too many')
    else if (schema !== undefined) checkAt(schema, one, check, appendPath(path, at))
  }
  for (let at = value.length; at < prefixItems.length; at += 1) {
    if (prefixItems[at]?.nullable !== true) misfit(appendPath(path, at), 'is required')
  }
}

function checkMembers(
  schema: Schema,
  value: { readonly [name: string]: Json },
  check: Check,
  path: string,
): void {
  const { definitions, misfit } = check
  const { properties, additionalProperties, discriminator } = schema
  const given = new Map(Object.entries(value).map(([name, one]) => [name.toLowerCase(), one]))
  if (discriminator !== undefined) {
    const { propertyName, mapping } = discriminator
    const kind = given.get(propertyName.toLowerCase())
    const chosen = typeof kind === 'string' ? mapping.get(kind) : undefined
    const variant = chosen === undefined ? undefined : resolved(chosen, definitions)
    if (variant !== undefined) {
      // The variant's own discriminator is dropped: it could choose itself for ever.
      const { discriminator: _again, ...rest } = variant
      checkAt(rest, value, check, path)
      return
    }
    misfit(appendPath(path, propertyName), `expected one of ${shown([...mapping.keys()])}`)
    return
  }
  const declared = new Set<string>()
  for (const [name, inner] of properties ?? []) {
    declared.add(name.toLowerCase())
    const one = given.get(name.toLowerCase())
    const at = appendPath(path, name)
    if (one !== undefined) checkAt(inner, one, check, at)
    else if (resolved(inner, definitions)?.nullable !== true) misfit(at, 'is required')
  }
  if (additionalProperties === undefined) return
  for (const [name, one] of Object.entries(value)) {
    if (declared.has(name.toLowerCase())) continue
    const at = appendPath(path, name)
    if (additionalProperties === false) misfit(at, 'is not a property of this type')
    else checkAt(additionalProperties, one, check, at)
  }
}
