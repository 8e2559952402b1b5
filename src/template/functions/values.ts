/** What functions share: taking arguments of a kind or refusing them, comparing values, and texts of values. */

import type { EvaluationQuota } from '../evaluation-quota.ts'
import { isArray, isObject, kindOf } from '../fields.ts'
import type { Json, JsonObject } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import type { Call } from './define.ts'

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth']

function misfit(call: Call, index: number, wanted: string, value: Json): EvaluationError {
  const which = ordinals[index] ?? `${index + 1}th`
  return new EvaluationError(
    `${call.name}() expects ${wanted} as its ${which} argument, not ${kindOf(value)}`,
  )
}

export function textAt(values: readonly Json[], index: number, call: Call): string {
  const value = values[index] ?? null
  if (typeof value !== 'string') throw misfit(call, index, 'a string', value)
  return value
}

/** A string, or an integer as text. */
export function textOrIntegerAt(values: readonly Json[], index: number, call: Call): string {
  const value = values[index] ?? null
  if (isInteger(value)) return String(value)
  if (typeof value !== 'string') throw misfit(call, index, 'a string or an integer', value)
  return value
}

/** For counts and places, of which the largest are beyond all that there is: those of 64 bits are rounded. */
export function integerAt(values: readonly Json[], index: number, call: Call): number {
  return Number(exactAt(values, index, call))
}

export function exactAt(values: readonly Json[], index: number, call: Call): bigint {
  const value = values[index] ?? null
  if (!isInteger(value)) throw misfit(call, index, 'an integer', value)
  return BigInt(value)
}

export function booleanAt(values: readonly Json[], index: number, call: Call): boolean {
  const value = values[index] ?? null
  if (typeof value !== 'boolean') throw misfit(call, index, 'true or false', value)
  return value
}

export function arrayAt(values: readonly Json[], index: number, call: Call): readonly Json[] {
  const value = values[index] ?? null
  if (!isArray(value)) throw misfit(call, index, 'an array', value)
  return value
}

export function objectAt(values: readonly Json[], index: number, call: Call): JsonObject {
  const value = values[index] ?? null
  if (!isObject(value)) throw misfit(call, index, 'an object', value)
  return value
}

export function textOrArrayAt(
  values: readonly Json[],
  index: number,
  call: Call,
): string | readonly Json[] {
  const value = values[index] ?? null
  if (typeof value === 'string' || isArray(value)) return value
  throw misfit(call, index, 'a string or an array', value)
}

/** The refusal of an argument that is none of several kinds. */
export function refuseKind(
  values: readonly Json[],
  index: number,
  call: Call,
  wanted: string,
): never {
  throw misfit(call, index, wanted, values[index] ?? null)
}

export function isInteger(value: Json): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value))
}

/** Integers have 64 bits and are exact: those that a number would round stay what they are. */
export function exactInteger(value: bigint, what: string): number | bigint {
  if (BigInt.asIntN(64, value) !== value) {
    throw new EvaluationError(`${what} does not fit in 64 bits`)
  }
  const made = Number(value)
  return Number.isSafeInteger(made) ? made : value
}

/** Equal in kind and in value, however deep; strings and names with regard to case, members in any order. */
export function areEqual(one: Json, two: Json, quota: EvaluationQuota): boolean {
  quota.spend(1)
  if (one === two) return true
  if (typeof one !== 'object' || typeof two !== 'object' || one === null || two === null) {
    return false
  }
  if (isArray(one)) {
    if (!isArray(two) || one.length !== two.length) return false
    return one.every((value, index) => areEqual(value, two[index] ?? null, quota))
  }
  if (!isObject(one) || !isObject(two)) return false
  const names = Object.keys(one)
  if (names.length !== Object.keys(two).length) return false
  return names.every(
    (name) => Object.hasOwn(two, name) && areEqual(one[name] ?? null, two[name] ?? null, quota),
  )
}

/** The same text for equal values, another for different ones. */
export function identityOf(value: Json, quota: EvaluationQuota): string {
  if (typeof value !== 'object' || value === null) return jsonText(value, quota)
  quota.spend(1)
  const parts = isArray(value)
    ? value.map((one) => identityOf(one, quota))
    : Object.entries(value)
        .sort(byName)
        .map(([name, one]) => `${JSON.stringify(name)}:${identityOf(one, quota)}`)
  const text = isArray(value) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`
  quota.produce(text.length)
  return text
}

function byName([one]: readonly [string, Json], [two]: readonly [string, Json]): number {
  return compareText(one, two)
}

/** By code units, as texts are ordered everywhere in the language. */
export function compareText(one: string, two: string): number {
  if (one === two) return 0
  return one < two ? -1 : 1
}

/** JSON without spaces. Its size is counted while it is made: values may share parts many times over. */
function jsonText(value: Json, quota: EvaluationQuota): string {
  quota.spend(1)
  if (isArray(value)) {
    const text = `[${value.map((one) => jsonText(one, quota)).join(',')}]`
    quota.produce(text.length)
    return text
  }
  if (isObject(value)) {
    const parts = Object.entries(value).map(
      ([name, one]) => `${JSON.stringify(name)}:${jsonText(one, quota)}`,
    )
    const text = `{${parts.join(',')}}`
    quota.produce(text.length)
    return text
  }
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
  quota.produce(text.length)
  return text
}

/** How a value looks inside of other text: texts as they stand, `True` and `False`, JSON for the rest. */
export function textOf(value: Json, quota: EvaluationQuota): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return jsonText(value, quota)
}

/**
 * Lower case that keeps every character's place, for comparing without regard to case. One letter would become
 * two, and one depends on where it stands.
 */
export function folded(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ')
}

/** The member's value: spelled so, else the first that differs in case only. */
export function memberOf(
  object: JsonObject,
  name: string,
  quota: EvaluationQuota,
): Json | undefined {
  if (Object.hasOwn(object, name)) return object[name]
  const names = Object.keys(object)
  quota.spend(names.length)
  const lower = name.toLowerCase()
  const found = names.find((one) => one.toLowerCase() === lower)
  return found === undefined ? undefined : object[found]
}
