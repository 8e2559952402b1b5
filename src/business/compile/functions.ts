/**
 * The functions of filters in the business application, with the kinds of their parameters and results. Only ASCII
 * letters are folded and lengths count characters, because both stores do so.
 */

import { builtInFunctions, type FunctionShape } from '#kernel/filter/functions.ts'
import { type FilterProfile, strictProfile } from '#kernel/filter/profile.ts'
import type { Kind } from './expression.ts'

interface FilterFunction {
  /** The accepted kinds of each parameter; literals are tried in this order. */
  readonly parameters: readonly (readonly Kind[])[]
  readonly result: Kind
}

const text: readonly Kind[] = ['text']
const integer: readonly Kind[] = ['integer']
const real: readonly Kind[] = ['real']
const day: readonly Kind[] = ['date', 'moment']
const moment: readonly Kind[] = ['moment']

/** By the name that OData uses. */
export const filterFunctions: Readonly<Record<string, FilterFunction>> = Object.freeze({
  contains: { parameters: [text, text], result: 'boolean' },
  startswith: { parameters: [text, text], result: 'boolean' },
  endswith: { parameters: [text, text], result: 'boolean' },
  tolower: { parameters: [text], result: 'text' },
  toupper: { parameters: [text], result: 'text' },
  trim: { parameters: [text], result: 'text' },
  concat: { parameters: [text, text], result: 'text' },
  length: { parameters: [text], result: 'integer' },
  indexof: { parameters: [text, text], result: 'integer' },
  substring: { parameters: [text, integer, integer], result: 'text' },
  year: { parameters: [day], result: 'integer' },
  month: { parameters: [day], result: 'integer' },
  day: { parameters: [day], result: 'integer' },
  hour: { parameters: [moment], result: 'integer' },
  minute: { parameters: [moment], result: 'integer' },
  second: { parameters: [moment], result: 'integer' },
  date: { parameters: [moment], result: 'date' },
  round: { parameters: [real], result: 'real' },
  floor: { parameters: [real], result: 'real' },
  ceiling: { parameters: [real], result: 'real' },
})

/** Strict OData with only these functions, and `now`, which becomes a constant before anything is checked. */
export const businessProfile: FilterProfile = Object.freeze({
  ...strictProfile,
  functions: {
    ...Object.fromEntries(
      Object.entries(builtInFunctions).filter(([name]) => Object.hasOwn(filterFunctions, name)),
    ),
    now: { parameters: [], result: 'dateTime' } satisfies FunctionShape,
  },
})
