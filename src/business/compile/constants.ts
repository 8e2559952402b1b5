/**
 * Converts constants of a filter to the form of the column: decimals to exact integers of 10^-5, moments to
 * milliseconds, enumeration values without escapes. All rules about the spelling of values are here.
 */

import type { Literal } from '#kernel/filter/nodes.ts'
import { quoted } from '#kernel/filter/problem.ts'
import { spellingOf as filterSpelling } from '#kernel/filter/values.ts'
import { decimalPlaces } from '../entity.ts'
import { plainEnumValue } from '../odata/enum-names.ts'
import type { Expression, Kind } from './expression.ts'
import { constant } from './typing.ts'

/**
 * A value in the form of `kind`. When not `exact`, no value of that form equals it, and this is the largest below.
 */
export interface Constant {
  readonly kind: Kind
  readonly value: string | number | boolean | null
  readonly exact: boolean
}

interface Misfit {
  readonly expected: string
  readonly found?: string
}

/** Larger than every value in a column, and still exact as a double. */
const integerMax = Number.MAX_SAFE_INTEGER
const dayMilliseconds = 86_400_000
const firstDay = -62_135_596_800_000

export function spellingOf(kind: Kind): string {
  switch (kind) {
    case 'text':
      return filterSpelling('string', false)
    case 'integer':
    case 'decimal':
    case 'real':
      return filterSpelling('number', false)
    case 'moment':
      return filterSpelling('dateTime', false)
    case 'null':
      return 'null'
    default:
      return filterSpelling(kind, false)
  }
}

/** The literal as a value of that kind, or what would have been valid. */
export function constantFor(
  literal: Literal,
  kind: Kind,
  values: readonly string[] | undefined,
): Constant | Misfit {
  if (literal.type === 'null') return { kind: 'null', value: null, exact: true }
  const exactly = (value: string | number | boolean): Constant => ({ kind, value, exact: true })
  switch (kind) {
    case 'text':
      if (literal.type === 'string') return exactly(textOf(literal.value, values))
      if (literal.type === 'enum' && values !== undefined) return exactly(literal.value)
      break
    case 'enum':
      if (literal.type === 'string' || literal.type === 'enum') {
        return enumValue(literal.value, values)
      }
      break
    case 'guid':
      if (literal.type === 'guid') return exactly(literal.text.toLowerCase())
      break
    case 'boolean':
      if (literal.type === 'boolean') return exactly(literal.value)
      break
    case 'date':
      if (literal.type === 'date') return exactly(literal.text)
      if (literal.type === 'dateTime') return dayOf(literal.value)
      break
    case 'moment':
      if (literal.type === 'dateTime' || literal.type === 'date') {
        // A moment without a value is 0 in its column and the first day of the calendar on the wire.
        return exactly(literal.value === firstDay ? 0 : literal.value)
      }
      break
    case 'integer':
    case 'decimal':
      if (literal.type === 'number' && !Number.isNaN(literal.value)) {
        return scaled(literal.text, kind, kind === 'decimal' ? decimalPlaces : 0)
      }
      break
    case 'real':
      if (literal.type === 'number' && !Number.isNaN(literal.value)) {
        return exactly(Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, literal.value)))
      }
      break
    case 'null': {
      const own = ownConstant(literal)
      if (own?.form === 'constant') return { kind: own.kind, value: own.value, exact: true }
    }
  }
  return { expected: spellingOf(kind) }
}

/** The literal in its own kind, when there is nothing to compare it with. */
export function ownConstant(literal: Literal): Expression | undefined {
  switch (literal.type) {
    case 'null':
      return constant('null', null)
    case 'boolean':
      return constant('boolean', literal.value)
    case 'string':
      return constant('text', literal.value)
    case 'guid':
      return constant('guid', literal.text.toLowerCase())
    case 'date':
      return constant('date', literal.text)
    case 'dateTime':
      return constant('moment', literal.value)
    case 'number': {
      if (Number.isNaN(literal.value)) return undefined
      const whole = /^-?\d{1,15}$/.test(literal.text)
      const value = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, literal.value))
      return constant(whole ? 'integer' : 'real', value)
    }
    default:
      return undefined
  }
}

/** Both spellings of a v1.0 enumeration are known; any other text stands for itself. */
function textOf(text: string, values: readonly string[] | undefined): string {
  if (values === undefined) return text
  const plain = plainEnumValue(text)
  return values.includes(plain) ? plain : text
}

function enumValue(text: string, values: readonly string[] | undefined): Constant | Misfit {
  const plain = plainEnumValue(text)
  if (values === undefined || values.includes(plain)) {
    return { kind: 'enum', value: plain, exact: true }
  }
  const known = values.map((one) => `'${one}'`).join(', ')
  return { expected: `one of ${known}`, found: quoted(text) }
}

/** The day of a moment; exact at midnight. */
function dayOf(at: number): Constant {
  const day = Math.floor(at / dayMilliseconds) * dayMilliseconds
  // Dates before year 1 and after 9999 have no comparable text; the ends stand for them.
  const bounded = Math.max(-62_135_596_800_000, Math.min(253_402_214_400_000, day))
  const text = new Date(bounded).toISOString().slice(0, 10)
  return { kind: 'date', value: text, exact: day === at && bounded === day }
}

const numberPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Exact, from the digits as written: a double cannot distinguish neighbours at this scale. */
function scaled(text: string, kind: Kind, places: number): Constant {
  const match = numberPattern.exec(text)
  if (match === null) {
    // A number without digits is INF or -INF.
    return { kind, value: text.startsWith('-') ? -integerMax : integerMax, exact: false }
  }
  const [, sign, whole = '', fraction = '', power = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  // The position of the point from the left end of `digits`, after scaling.
  const point = digits.length - fraction.length + Number(power) + places
  if (digits === '') return { kind, value: 0, exact: true }
  if (point > 16) return { kind, value: sign === '-' ? -integerMax : integerMax, exact: false }
  const kept = point <= 0 ? '' : digits.slice(0, point).padEnd(point, '0')
  const rest = point <= 0 ? digits : digits.slice(point)
  const size = Math.min(Number(kept === '' ? '0' : kept), integerMax)
  const exact = /^0*$/.test(rest) && size < integerMax
  const below = sign === '-' ? -size - (/^0*$/.test(rest) ? 0 : 1) : size
  return { kind, value: below, exact }
}
