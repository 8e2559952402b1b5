/**
 * Values during evaluation. Field values and literals are converted to one form, so that a comparison is a single
 * operator. All leniency about the spelling of values is here.
 */

import { isUuid } from '../uuid.ts'
import type { Value, ValueType } from './functions.ts'
import { parseAnyMoment, parseDate, parseDateTime, parseDuration, parseTime } from './moments.ts'
import type { Literal } from './nodes.ts'

/** A field's content as a value of the type; null for anything else. */
export function heldValue(type: ValueType, held: unknown): Value {
  switch (type) {
    case 'string':
    case 'enum':
      return typeof held === 'string' ? held : null
    case 'guid':
      return typeof held === 'string' ? held.toLowerCase() : null
    case 'number':
      return typeof held === 'number' ? held : null
    case 'boolean':
      return typeof held === 'boolean' ? held : null
    case 'date':
    case 'dateTime':
      return momentOf(held)
    case 'time':
      return lengthOf(held, parseTime)
    case 'duration':
      return lengthOf(held, parseDuration)
  }
}

function momentOf(held: unknown): number | null {
  if (typeof held === 'number') return held
  if (typeof held === 'string') return parseDate(held) ?? parseDateTime(held, 'optional') ?? null
  if (held instanceof Date) return Number.isNaN(held.getTime()) ? null : held.getTime()
  return null
}

function lengthOf(held: unknown, parse: (text: string) => number | undefined): number | null {
  if (typeof held === 'number') return held
  return typeof held === 'string' ? (parse(held) ?? null) : null
}

/** The literal's own value. */
export function plainValue(literal: Literal): Value {
  switch (literal.type) {
    case 'null':
      return null
    case 'guid':
      return literal.text.toLowerCase()
    default:
      return literal.value
  }
}

/** The literal as a value of `type`; `undefined` when it cannot be one. */
export function valueAs(literal: Literal, type: ValueType, lenient: boolean): Value | undefined {
  if (literal.type === 'null' || literal.type === type) return plainValue(literal)
  switch (type) {
    case 'date':
    case 'dateTime':
      if (literal.type === 'date' || literal.type === 'dateTime') return literal.value
      return lenient && literal.type === 'string' ? parseAnyMoment(literal.value) : undefined
    case 'time':
      return lenient && literal.type === 'string' ? parseTime(literal.value) : undefined
    case 'duration':
      return literal.type === 'string' ? parseDuration(literal.value) : undefined
    case 'guid':
      return lenient && literal.type === 'string' && isUuid(literal.value)
        ? literal.value.toLowerCase()
        : undefined
    case 'string':
      return lenient && literal.type === 'guid' ? literal.text : undefined
    case 'enum':
      return literal.type === 'string' ? literal.value : undefined
    case 'number':
    case 'boolean':
      return undefined
  }
}

/** How a value of the type is written, for messages. */
export function spellingOf(type: ValueType, lenient: boolean): string {
  switch (type) {
    case 'string':
      return "text in single quotes ('…')"
    case 'number':
      return 'a number without quotes'
    case 'boolean':
      return 'true or false without quotes'
    case 'guid':
      return lenient ? 'a GUID' : 'a GUID without quotes'
    case 'date':
    case 'dateTime':
      return lenient
        ? 'a date (2026-11-20, 2026-11-20T10:30:00Z or 11/20/2026)'
        : 'a date without quotes (2026-11-20 or 2026-11-20T10:30:00Z)'
    case 'time':
      return 'a time of day (10:30:00)'
    case 'duration':
      return "a duration (duration'P1DT2H')"
    case 'enum':
      return 'one of the values in single quotes'
  }
}
