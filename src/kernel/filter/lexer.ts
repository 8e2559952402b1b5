/**
 * Splits the text of a query option into tokens, one at a time, so that the first fault in reading order is
 * reported. It knows the spelling of literals and no grammar; `$filter` and `$orderby` share it.
 */

import { isUuid } from '../uuid.ts'
import { parseDate, parseDateTime, parseDuration, parseTime } from './moments.ts'
import { isInfixOperator, type Literal } from './nodes.ts'
import { type FilterProblem, filterProblem, quoted } from './problem.ts'
import type { FilterProfile } from './profile.ts'

interface Span {
  readonly position: number
  /** The position after the token. */
  readonly end: number
}

type Punctuation = '(' | ')' | ',' | '/' | ':' | ';' | '=' | '*' | '-'

export type Token =
  | (Span & { readonly kind: 'word'; readonly text: string })
  | (Span & { readonly kind: 'literal'; readonly literal: Literal })
  | (Span & { readonly kind: 'punctuation'; readonly text: Punctuation })
  | (Span & { readonly kind: 'end' })
  | (Span & { readonly kind: 'bad'; readonly problem: FilterProblem })

// These patterns are sticky: `lastIndex` is set before every use, so they hold no state between calls.
const blank = /[ \t\r\n]*/y
const word = /[\p{L}_$@][\p{L}\p{N}_$@]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*/uy
const guid = /[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![\p{L}\p{N}_-])/uy
const moment =
  /\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?(?![\p{L}\p{N}_:-])/uy
const time = /\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?![\p{L}\p{N}_:-])/uy
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_.])/uy
const infinity = /-INF(?![\p{L}\p{N}_.])/uy
const stringBody = /'(?:[^']|'')*'(?!')/y

const punctuation = '(),/:;=*-'

/** Refuses text that no store can hold: NUL and lone surrogates. Every literal may reach a store. */
export function checkText(text: string, profile: FilterProfile): FilterProblem | undefined {
  if (text.length > profile.limits.lengthMax) {
    return filterProblem(
      profile.limits.lengthMax,
      `at most ${profile.limits.lengthMax} characters`,
      `${text.length}`,
    )
  }
  const nul = text.indexOf('\0')
  if (nul >= 0) return filterProblem(nul, 'text', 'a NUL character')
  const mended = text.toWellFormed()
  if (mended !== text) {
    let at = 0
    while (text[at] === mended[at]) at++
    return filterProblem(at, 'text', 'half of a surrogate pair')
  }
  return undefined
}

/** The token at or after `from`, blanks skipped. At the end of the text every call returns `end`. */
export function nextToken(text: string, from: number, profile: FilterProfile): Token {
  const position = from + (match(blank, text, from)?.length ?? 0)
  if (position >= text.length) return { kind: 'end', position: text.length, end: text.length }
  const first = text[position] as string // position < length
  if (first === "'") return stringToken(text, position)
  const id = match(guid, text, position)
  if (id !== undefined) return literalToken({ type: 'guid', text: id }, position, id)
  if (first >= '0' && first <= '9') return digitToken(text, position, profile)
  if (first === '-') {
    if (/\d/.test(text[position + 1] ?? '')) return numberToken(text, position)
    const minus = match(infinity, text, position)
    if (minus !== undefined) {
      return literalToken({ type: 'number', text: minus, value: -Infinity }, position, minus)
    }
  }
  const name = match(word, text, position)
  if (name !== undefined) {
    const end = position + name.length
    return text[end] === "'"
      ? prefixedToken(text, position, name, profile)
      : { kind: 'word', text: name, position, end }
  }
  if (punctuation.includes(first)) {
    // `punctuation` holds exactly the members of the type.
    return { kind: 'punctuation', text: first as Punctuation, position, end: position + 1 }
  }
  const character = String.fromCodePoint(text.codePointAt(position) as number) // position < length
  return bad(position, 'a name, a value or an operator', quoted(character))
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function literalToken(literal: Literal, position: number, text: string): Token {
  return { kind: 'literal', literal, position, end: position + text.length }
}

function bad(position: number, expected: string, found: string, hint?: string): Token {
  const problem = filterProblem(position, expected, found, hint)
  return { kind: 'bad', problem, position, end: position }
}

/** The text up to the next blank, for messages. */
function rest(text: string, position: number): string {
  return quoted(text.slice(position, position + 60).split(/[\s(),]/)[0] ?? '')
}

function stringToken(text: string, position: number): Token {
  const whole = match(stringBody, text, position)
  if (whole === undefined) {
    return bad(
      position,
      'a closing quote',
      'the end of the text',
      'a quote inside a string is written twice',
    )
  }
  return literalToken({ type: 'string', value: unquote(whole) }, position, whole)
}

function unquote(whole: string): string {
  return whole.slice(1, -1).replaceAll("''", "'")
}

function digitToken(text: string, position: number, profile: FilterProfile): Token {
  const when = match(moment, text, position)
  if (when !== undefined) {
    const literal = momentLiteral(when, profile)
    if (literal !== undefined) return literalToken(literal, position, when)
    const zone = profile.oldForms ? '' : ' with a zone (Z or +hh:mm)'
    return bad(position, `a day of the calendar or a time of day${zone}`, quoted(when))
  }
  const clock = match(time, text, position)
  if (clock !== undefined) {
    const value = parseTime(clock)
    if (value === undefined) return bad(position, 'a time of day', quoted(clock))
    return literalToken({ type: 'time', text: clock, value }, position, clock)
  }
  return numberToken(text, position)
}

function momentLiteral(text: string, profile: FilterProfile): Literal | undefined {
  const date = parseDate(text)
  if (date !== undefined) return { type: 'date', text, value: date }
  const value = parseDateTime(text, profile.oldForms ? 'optional' : 'required')
  return value === undefined ? undefined : { type: 'dateTime', text, value }
}

function numberToken(text: string, position: number): Token {
  const digits = match(number, text, position)
  if (digits === undefined) {
    return bad(position, 'a number, a date or a GUID', rest(text, position))
  }
  return literalToken({ type: 'number', text: digits, value: Number(digits) }, position, digits)
}

/** `duration'P1D'`, `Sales.Status'Open'`, and the older forms `guid'…'` and `datetime'…'`. */
function prefixedToken(
  text: string,
  position: number,
  prefix: string,
  profile: FilterProfile,
): Token {
  const lower = prefix.toLowerCase()
  if (isInfixOperator(lower) || lower === 'not') {
    return bad(position + prefix.length, 'a blank', 'a quote')
  }
  const body = match(stringBody, text, position + prefix.length)
  if (body === undefined) return { ...stringToken(text, position + prefix.length), position }
  const value = unquote(body)
  const literal = prefixedLiteral(lower, prefix, value, profile)
  return literal === undefined
    ? bad(position, `the value of a ${lower}`, quoted(`${prefix}${body}`))
    : literalToken(literal, position, prefix + body)
}

function prefixedLiteral(
  lower: string,
  prefix: string,
  value: string,
  profile: FilterProfile,
): Literal | undefined {
  switch (lower) {
    case 'duration': {
      const length = parseDuration(value)
      return length === undefined ? undefined : { type: 'duration', text: value, value: length }
    }
    case 'guid':
      return profile.oldForms && isUuid(value) ? { type: 'guid', text: value } : undefined
    case 'date':
    case 'datetime':
    case 'datetimeoffset':
      return profile.oldForms ? momentLiteral(value, profile) : undefined
    case 'time':
    case 'timeofday':
    case 'binary':
    case 'geography':
    case 'geometry':
      return undefined
    default:
      return { type: 'enum', typeName: prefix, value }
  }
}
