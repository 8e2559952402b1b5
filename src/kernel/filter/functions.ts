/**
 * The functions a filter may call: their parameters, results and computation. None takes longer than the length of
 * its arguments allows, so pattern matching is left out.
 */

import { positionIn } from '../text-search.ts'

/** The type of a value in a filter. `dateTime` covers dates too: both are moments in milliseconds. */
export type ValueType =
  | 'string'
  | 'number'
  | 'boolean'
  | 'guid'
  | 'date'
  | 'dateTime'
  | 'time'
  | 'duration'
  | 'enum'

/** A value during evaluation: times and durations are numbers, GUIDs lower-case strings, absent is null. */
export type Value = string | number | boolean | null

export interface FunctionShape {
  readonly parameters: readonly ValueType[]
  /** The number of trailing parameters that may be left out; 0 by default. */
  readonly optional?: number
  readonly result: ValueType
}

/** Called only with values that are not null; a null argument makes the result null. */
interface BuiltIn extends FunctionShape {
  readonly compute: (...values: readonly never[]) => Value
}

const dayMilliseconds = 86_400_000

function ofDate(part: (date: Date) => number): BuiltIn {
  return {
    parameters: ['dateTime'],
    result: 'number',
    compute: (at: number) => part(new Date(at)),
  }
}

function rounded(round: (value: number) => number): BuiltIn {
  return { parameters: ['number'], result: 'number', compute: round }
}

const twoStrings = { parameters: ['string', 'string'], result: 'boolean' } as const

/** By the name that OData uses. `substringof` is the older form of `contains`, with the searched text first. */
export const builtInFunctions: Readonly<Record<string, BuiltIn>> = Object.freeze({
  contains: { ...twoStrings, compute: (text: string, part: string) => positionIn(text, part) >= 0 },
  startswith: { ...twoStrings, compute: (text: string, part: string) => text.startsWith(part) },
  endswith: { ...twoStrings, compute: (text: string, part: string) => text.endsWith(part) },
  substringof: {
    ...twoStrings,
    compute: (part: string, text: string) => positionIn(text, part) >= 0,
  },
  tolower: { parameters: ['string'], result: 'string', compute: (t: string) => t.toLowerCase() },
  toupper: { parameters: ['string'], result: 'string', compute: (t: string) => t.toUpperCase() },
  trim: { parameters: ['string'], result: 'string', compute: (t: string) => t.trim() },
  concat: {
    parameters: ['string', 'string'],
    result: 'string',
    compute: (left: string, right: string) => left + right,
  },
  length: { parameters: ['string'], result: 'number', compute: (text: string) => text.length },
  indexof: {
    parameters: ['string', 'string'],
    result: 'number',
    compute: positionIn,
  },
  substring: {
    parameters: ['string', 'number', 'number'],
    optional: 1,
    result: 'string',
    compute: (text: string, from: number, length?: number) => {
      const start = Math.max(0, Math.trunc(from))
      if (length === undefined) return text.slice(start)
      return text.slice(start, start + Math.max(0, Math.trunc(length)))
    },
  },
  year: ofDate((date) => date.getUTCFullYear()),
  month: ofDate((date) => date.getUTCMonth() + 1),
  day: ofDate((date) => date.getUTCDate()),
  hour: ofDate((date) => date.getUTCHours()),
  minute: ofDate((date) => date.getUTCMinutes()),
  second: ofDate((date) => date.getUTCSeconds()),
  date: {
    parameters: ['dateTime'],
    result: 'date',
    compute: (at: number) => Math.floor(at / dayMilliseconds) * dayMilliseconds,
  },
  time: {
    parameters: ['dateTime'],
    result: 'time',
    compute: (at: number) => at - Math.floor(at / dayMilliseconds) * dayMilliseconds,
  },
  // OData rounds halves away from zero; JavaScript rounds them up.
  round: rounded((value) => Math.sign(value) * Math.round(Math.abs(value))),
  floor: rounded(Math.floor),
  ceiling: rounded(Math.ceil),
})
