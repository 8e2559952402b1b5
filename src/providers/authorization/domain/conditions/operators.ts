/**
 * The operators and prefixes of the condition language (facts 2.7) as one table: what they compare, whether case
 * counts, whether they take sets, and when they hold. Pure; a value of another type never matches.
 */

import { isUuid } from '#kernel/uuid.ts'
import { like } from './like.ts'
import type { Steps } from './steps.ts'

export type OperandType = 'boolean' | 'string' | 'number' | 'moment' | 'guid'
export type Scalar = string | number | boolean

interface Operator {
  readonly type: OperandType
  /** Strings are compared in lower case. */
  readonly ignoreCase: boolean
  /** May follow a prefix such as `ForAnyOfAnyValues:` (facts 2.7 lists which). */
  readonly takesSets: boolean
  readonly holds: Holds
}

/** Gets values that `normalize` returned. */
type Holds = (left: Scalar, right: Scalar, steps: Steps) => boolean

const same = (left: Scalar, right: Scalar): boolean => left === right
const differ = (left: Scalar, right: Scalar): boolean => left !== right

const order: Readonly<Record<string, Holds>> = {
  Equals: same,
  NotEquals: differ,
  GreaterThan: (left, right) => left > right,
  GreaterThanEquals: (left, right) => left >= right,
  LessThan: (left, right) => left < right,
  LessThanEquals: (left, right) => left <= right,
}

const texts: readonly (readonly [name: string, takesSets: boolean, holds: Holds])[] = [
  ['StringEquals', true, same],
  ['StringNotEquals', true, differ],
  ['StringStartsWith', false, (left, right) => String(left).startsWith(String(right))],
  ['StringNotStartsWith', false, (left, right) => !String(left).startsWith(String(right))],
  ['StringLike', true, (left, right, steps) => like(String(left), String(right), steps)],
  ['StringNotLike', true, (left, right, steps) => !like(String(left), String(right), steps)],
]

function makeTable(): ReadonlyMap<string, Operator> {
  const table = new Map<string, Operator>()
  const plain = { ignoreCase: false, takesSets: false }
  table.set('BoolEquals', { ...plain, type: 'boolean', holds: same })
  table.set('BoolNotEquals', { ...plain, type: 'boolean', holds: differ })
  for (const [name, takesSets, holds] of texts) {
    table.set(name, { type: 'string', ignoreCase: false, takesSets, holds })
    table.set(`${name}IgnoreCase`, { type: 'string', ignoreCase: true, takesSets, holds })
  }
  for (const [name, holds] of Object.entries(order)) {
    table.set(`Numeric${name}`, { ...plain, type: 'number', takesSets: true, holds })
    table.set(`DateTime${name}`, { ...plain, type: 'moment', holds })
  }
  table.set('GuidEquals', { ...plain, type: 'guid', takesSets: true, holds: same })
  table.set('GuidNotEquals', { ...plain, type: 'guid', takesSets: true, holds: differ })
  return table
}

export type OperatorName = string

/** By name, in the printed case. */
export const operators: ReadonlyMap<OperatorName, Operator> = makeTable()

const namesInLowerCase: ReadonlyMap<string, OperatorName> = new Map(
  [...operators.keys()].map((name) => [name.toLowerCase(), name]),
)

/** Any case is accepted (facts 2.7); returns the printed name. */
export function operatorNamed(text: string): OperatorName | undefined {
  return namesInLowerCase.get(text.toLowerCase())
}

export function operatorOf(name: OperatorName): Operator {
  const operator = operators.get(name)
  if (operator === undefined) throw new Error(`no operator ${name}`)
  return operator
}

export const prefixNames = [
  'ForAnyOfAnyValues',
  'ForAllOfAnyValues',
  'ForAnyOfAllValues',
  'ForAllOfAllValues',
] as const
export type PrefixName = (typeof prefixNames)[number]

export function prefixNamed(text: string): PrefixName | undefined {
  const lower = text.toLowerCase()
  return prefixNames.find((name) => name.toLowerCase() === lower)
}

type Pairs = (
  left: readonly Scalar[],
  right: readonly Scalar[],
  holds: (left: Scalar, right: Scalar) => boolean,
) => boolean

/** Over a left and a right set. With an empty left side, `ForAny…` is false and `ForAll…` is true. */
export const prefixes: Readonly<Record<PrefixName, Pairs>> = {
  ForAnyOfAnyValues: (left, right, holds) => left.some((l) => right.some((r) => holds(l, r))),
  ForAllOfAnyValues: (left, right, holds) => left.every((l) => right.some((r) => holds(l, r))),
  ForAnyOfAllValues: (left, right, holds) => left.some((l) => right.every((r) => holds(l, r))),
  ForAllOfAllValues: (left, right, holds) => left.every((l) => right.every((r) => holds(l, r))),
}

const momentPattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,7}))?Z$/

/** Milliseconds of `yyyy-mm-ddThh:mm:ss.mmmmmmmZ`; finer parts are cut off. */
function parseMoment(text: string): number | undefined {
  const [, whole, fraction = ''] = momentPattern.exec(text) ?? []
  if (whole === undefined) return undefined
  const time = Date.parse(`${whole}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  // `Date.parse` turns 30 February into a day in March; such a text is no day.
  const exact = !Number.isNaN(time) && new Date(time).toISOString().startsWith(whole)
  return exact ? time : undefined
}

/** A value in the operator's form; `undefined` when it does not have the operator's type. */
export function normalize(operator: Operator, value: Scalar): Scalar | undefined {
  switch (operator.type) {
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'number':
      return typeof value === 'number' ? value : undefined
    case 'string':
      if (typeof value !== 'string') return undefined
      return operator.ignoreCase ? value.toLowerCase() : value
    case 'guid':
      return typeof value === 'string' && isUuid(value) ? value.toLowerCase() : undefined
    case 'moment':
      // Moments of the server itself are milliseconds already.
      return typeof value === 'string' ? parseMoment(value) : momentOf(value)
    default:
      return operator.type satisfies never
  }
}

function momentOf(value: number | boolean): number | undefined {
  return typeof value === 'number' ? value : undefined
}
