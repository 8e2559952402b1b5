/**
 * Parses bytes to a JSON value that the rest of the tree may trust: UTF-8, bounded depth, no `__proto__`, and no NUL
 * or lone surrogate in any string (one of the stores could not keep them). Errors come with their position. Of
 * duplicate names the last one counts, as in JavaScript.
 */

import { isUtf8 } from 'node:buffer'
import { refuse } from '#kernel/error.ts'
import { parseCallersExactJson, TooManyLongIntegers } from '#kernel/exact-json.ts'
import { type JsonSizeLimits, jsonExcessInSlices } from '#kernel/json-size.ts'
import { allSteps } from '#kernel/steps.ts'
import { freeTurn } from '#plane/next-turn.ts'
import { relaxJson } from './relaxed-json.ts'

/** `exact` keeps integers of 64 bits, as bigints; `relaxed` does too, and also accepts what `relaxJson` does. */
export type JsonSyntax = 'strict' | 'exact' | 'relaxed'

export function parseJson(
  bytes: Buffer,
  limits: JsonSizeLimits,
  syntax: JsonSyntax = 'strict',
): unknown {
  return allSteps(parseInSteps(bytes, limits, syntax))
}

/** Like `parseJson`, but the server does other work between the steps where they take long. */
export async function parseJsonWithPauses(
  bytes: Buffer,
  limits: JsonSizeLimits,
  syntax: JsonSyntax = 'strict',
  pause: () => Promise<unknown> | undefined = freeTurn,
): Promise<unknown> {
  const parsing = parseInSteps(bytes, limits, syntax)
  for (;;) {
    await pause()
    const step = parsing.next()
    if (step.done === true) return step.value
  }
}

/** Yields where the work may pause. */
function* parseInSteps(
  bytes: Buffer,
  limits: JsonSizeLimits,
  syntax: JsonSyntax,
): Generator<void, unknown> {
  const { depthMax } = limits
  if (!isUtf8(bytes)) throw invalid('it is not valid UTF-8.')
  // Checked before the text is made, which would take as much memory again.
  const excess = yield* jsonExcessInSlices(bytes, limits)
  // Applies to relaxed text as well: the few members counted wrongly inside comments do not matter.
  if (excess?.limit === 'membersMax') throw tooMany(limits.membersMax)
  if (excess?.limit === 'propertiesMax') {
    throw invalid(`an object in it has more than ${limits.propertiesMax} properties.`)
  }
  const decoded = bytes.toString('utf8')
  const given = decoded.charCodeAt(0) === 0xfeff ? decoded.slice(1) : decoded
  yield
  const strict = syntax === 'relaxed' && excess === undefined ? parsedStrictly(given) : undefined
  const isRelaxed = syntax === 'relaxed' && strict === undefined
  const text = isRelaxed ? yield* relaxed(given, depthMax) : given
  if (isRelaxed) yield
  // The depth of strict JSON is known by now.
  const deep = isRelaxed || excess !== undefined ? yield* tooDeepAt(text, depthMax) : -1
  if (deep >= 0) throw tooDeep(text, deep, depthMax)
  yield
  const value = strict === undefined ? parse(text, syntax) : strict.value
  yield
  // Valid JSON from valid UTF-8 can contain a NUL or a lone surrogate only through an escape.
  if (text.includes('\\u') || text.includes('__proto__')) {
    const path = unfitAt(value)
    if (path !== undefined) {
      throw invalid(
        'names may not be "__proto__", and texts may hold neither NUL nor a lone surrogate.',
        path,
      )
    }
  }
  return value
}

function parsedStrictly(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseCallersExactJson(text) }
  } catch (error) {
    refuseLongIntegers(error)
    // It may be relaxed JSON.
    return undefined
  }
}

function refuseLongIntegers(error: unknown): void {
  if (error instanceof TooManyLongIntegers) throw invalid(error.message)
}

function tooMany(membersMax: number): Error {
  return invalid(`it has more than ${membersMax} objects, lists, properties and elements.`)
}

/** Rewrites to strict JSON of the same values. Positions in errors refer to the given text. */
function relaxed(text: string, depthMax: number): Generator<void, string> {
  return relaxJson(text, depthMax, {
    expected: (what, at) => unexpected(text, { expected: what, at }),
    tooDeep: (at) => tooDeep(text, at, depthMax),
  })
}

function tooDeep(text: string, at: number, depthMax: number): Error {
  return invalid(`it is nested deeper than ${depthMax} levels, at ${place(text, at)}.`)
}

function unexpected(text: string, { expected, at }: JsonFault): Error {
  return invalid(`expected ${expected} at ${place(text, at)}.`)
}

function parse(text: string, syntax: JsonSyntax): unknown {
  try {
    return syntax === 'strict' ? JSON.parse(text) : parseCallersExactJson(text)
  } catch (error) {
    refuseLongIntegers(error)
    // The runtime's own message quotes the body and differs between releases; ours does neither.
    if (text.length > faultSearchMax) throw invalid('it is not JSON.')
    const fault = findJsonFault(text)
    if (fault === undefined) throw new Error('JSON.parse and findJsonFault disagree')
    throw unexpected(text, fault)
  }
}

function invalid(reason: string, target?: string): Error {
  return refuse.InvalidRequestContent({ reason }, target === undefined ? {} : { target })
}

function place(text: string, at: number): string {
  let line = 1
  let start = 0
  for (let index = 0; index < at; index++) {
    if (text.charCodeAt(index) !== lineFeed) continue
    line += 1
    start = index + 1
  }
  return `position ${at} (line ${line}, column ${at - start + 1})`
}

/** Where the nesting first exceeds `depthMax`, or -1. Runs before parsing, so it tolerates bad JSON. */
export function* tooDeepAt(text: string, depthMax: number): Generator<void, number> {
  const unbounded = Number.POSITIVE_INFINITY
  const limits = { depthMax, membersMax: unbounded, propertiesMax: unbounded }
  const bytes = Buffer.from(text)
  const excess = yield* jsonExcessInSlices(bytes, limits)
  return excess === undefined ? -1 : bytes.toString('utf8', 0, excess.at).length
}

/** The path of the first name or text that must not be stored. Depth is bounded by now. */
function unfitAt(value: unknown): string | undefined {
  if (typeof value === 'string') return isFit(value) ? undefined : ''
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const below = unfitAt(value[index])
      if (below !== undefined) return join(`[${index}]`, below)
    }
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const below = isFit(name) && name !== '__proto__' ? unfitAt(member) : ''
    if (below !== undefined) return join(isFit(name) ? name : JSON.stringify(name), below)
  }
  return undefined
}

function join(above: string, below: string): string {
  return below === '' || below.startsWith('[') ? above + below : `${above}.${below}`
}

function isFit(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

const lineFeed = 0x0a
const quote = 0x22
const backslash = 0x5c

/** In a longer text the position of an error is not searched for. */
const faultSearchMax = 512 * 1024

interface JsonFault {
  readonly at: number
  readonly expected: string
}

/**
 * The first place where a text stops being JSON (RFC 8259), or undefined. Only for texts that were already
 * refused, so it is written to be obvious; its depth is bounded by `tooDeepAt`.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const end = value(skip(0))
  if (typeof end !== 'number') return end
  const rest = skip(end)
  return rest === text.length ? undefined : { at: rest, expected: 'the end of the text' }

  function skip(from: number): number {
    let at = from
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1
    return at
  }

  /** Each of these returns the position after what it read, or the fault. */
  function value(at: number): number | JsonFault {
    const first = text.charAt(at)
    if (first === '{') return members(at, '}', member)
    if (first === '[') return members(at, ']', value)
    if (first === '"') return string(at)
    for (const word of ['true', 'false', 'null'])
      if (text.startsWith(word, at)) return at + word.length
    const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
    number.lastIndex = at
    return number.test(text) ? number.lastIndex : { at, expected: 'a value' }
  }

  function members(
    open: number,
    close: string,
    one: (at: number) => number | JsonFault,
  ): number | JsonFault {
    let at = skip(open + 1)
    if (text.charAt(at) === close) return at + 1
    for (;;) {
      const next = one(at)
      if (typeof next !== 'number') return next
      at = skip(next)
      if (text.charAt(at) === close) return at + 1
      if (text.charAt(at) !== ',') return { at, expected: `"," or "${close}"` }
      at = skip(at + 1)
    }
  }

  function member(at: number): number | JsonFault {
    if (text.charAt(at) !== '"') return { at, expected: 'a name in quotes' }
    const name = string(at)
    if (typeof name !== 'number') return name
    const colon = skip(name)
    if (text.charAt(colon) !== ':') return { at: colon, expected: '":"' }
    return value(skip(colon + 1))
  }

  function string(open: number): number | JsonFault {
    for (let at = open + 1; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === quote) return at + 1
      if (code < 0x20) return { at, expected: 'an escape instead of a control character' }
      if (code !== backslash) continue
      const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
      escaped.lastIndex = at
      if (!escaped.test(text)) return { at, expected: 'a valid escape' }
      at = escaped.lastIndex - 1
    }
    return { at: text.length, expected: 'the quote that ends the text' }
  }
}
