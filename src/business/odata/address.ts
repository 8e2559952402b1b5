/**
 * Takes an address apart: segments with their keys, and options by name. Pure syntax; what a name means is for
 * `request.ts`.
 */

import { nextToken } from '#kernel/filter/lexer.ts'
import type { Literal } from '#kernel/filter/nodes.ts'
import { businessProfile } from '../compile/functions.ts'
import { refuse } from '../errors.ts'
import { odataLimits } from './limits.ts'

export interface RawSegment {
  readonly name: string
  /** The content of the parentheses: one value, or values by name. `undefined` without parentheses. */
  readonly key: RawKey | undefined
}

export type RawKey =
  | { readonly form: 'empty' }
  | { readonly form: 'single'; readonly value: Literal }
  | { readonly form: 'named'; readonly values: readonly (readonly [string, Literal])[] }

function invalid(reason: string): never {
  throw refuse.BadRequest_InvalidRequestUrl({ reason })
}

/** Needs no decoding and contains nothing to refuse. */
const plainAddress = /^[\w.~!$&'()*,;=:@-]*$/

/** Decodes text and refuses what a store cannot hold: NUL and half of a surrogate pair. */
export function decoded(text: string, plus: 'plus-is-blank' | 'plus-is-plus'): string {
  const spaced = plus === 'plus-is-blank' ? text.replaceAll('+', ' ') : text
  if (plainAddress.test(spaced)) return spaced
  if (/%(?![0-9A-Fa-f]{2})/.test(spaced)) invalid('a percent sign must be followed by two digits.')
  let out: string
  try {
    out = decodeURIComponent(spaced)
  } catch {
    // JavaScript has no other test for escaped bytes that are not UTF-8.
    return invalid('its escapes are not UTF-8.')
  }
  if (out.includes('\0') || !out.isWellFormed()) invalid('it holds a character no text may have.')
  return out
}

/** The segments of a path without a leading slash; a trailing slash is ignored. */
export function parsePath(path: string): readonly RawSegment[] {
  const parts = path.replace(/\/$/, '').split('/')
  if (parts.length === 1 && parts[0] === '') return []
  if (parts.length > odataLimits.segmentsMax) {
    invalid(`it has more than ${odataLimits.segmentsMax} segments.`)
  }
  return parts.map((part) => parseSegment(decoded(part, 'plus-is-plus')))
}

/** Whether the path of a request is that of a batch, however it is spelled. Refuses nothing. */
export function isBatchPath(path: string): boolean {
  // Of nearly all requests the path does not begin like one.
  if (!path.startsWith('$') && !path.startsWith('%')) return false
  const plain = path
    .replace(/\/$/, '')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  return plain === '$batch'
}

/** Whether an address names one row alone, whose texts are short: what is read there is no large answer. */
export function isSmallRead(path: string, search: string): boolean {
  return search === '' && path.endsWith(')') && smallSets.has(setAtEnd.exec(path)?.[1] ?? '')
}

/** It begins at no letter in a word: else it would look through a long one from each of its letters. */
const setAtEnd = /(?<![A-Za-z])([A-Za-z]+)\([0-9A-Fa-f-]+\)$/
/** Sets whose rows have neither pages to print nor long texts, and of which clients read one row after the other. */
const smallSets: ReadonlySet<string> = new Set([
  'customers',
  'items',
  'salesInvoiceLines',
  'salesQuoteLines',
  'salesCreditMemoLines',
])

function parseSegment(text: string): RawSegment {
  const open = text.indexOf('(')
  if (open < 0) return { name: text, key: undefined }
  if (!text.endsWith(')')) invalid(`the key in '${shown(text)}' is not closed by a parenthesis.`)
  const name = text.slice(0, open)
  return { name, key: parseKey(text.slice(open + 1, -1).trim()) }
}

function shown(text: string): string {
  return text.slice(0, 100)
}

/** The id of a v1.0 line as clients write it, with and without quotes (business facts 12). */
const lineId = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}-\d+$/

/** By far the most keys. */
const guidAlone = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/

function parseKey(text: string): RawKey {
  if (text === '') return { form: 'empty' }
  if (guidAlone.test(text)) return { form: 'single', value: { type: 'guid', text } }
  if (lineId.test(text)) return { form: 'single', value: { type: 'string', value: text } }
  const first = nextToken(text, 0, businessProfile)
  if (first.kind === 'literal') {
    if (nextToken(text, first.end, businessProfile).kind !== 'end') {
      invalid(`'${shown(text)}' is not one key.`)
    }
    return { form: 'single', value: first.literal }
  }
  if (first.kind !== 'word') return invalid(`'${shown(text)}' is not a key.`)
  const values: [string, Literal][] = []
  let at = 0
  for (;;) {
    const name = nextToken(text, at, businessProfile)
    const equals = nextToken(text, name.end, businessProfile)
    const value = nextToken(text, equals.end, businessProfile)
    const isEquals = equals.kind === 'punctuation' && equals.text === '='
    if (name.kind !== 'word' || !isEquals || value.kind !== 'literal') {
      return invalid(`'${shown(text)}' is not a key; write a value, or name='text'.`)
    }
    if (values.length >= 8 || values.some(([known]) => known === name.text)) {
      return invalid(`'${shown(text)}' names too much, or a field twice.`)
    }
    values.push([name.text, value.literal])
    const next = nextToken(text, value.end, businessProfile)
    if (next.kind === 'end') return { form: 'named', values }
    if (next.kind !== 'punctuation' || next.text !== ',') {
      return invalid(`'${shown(text)}' is not a key.`)
    }
    at = next.end
  }
}

const systemOptions = [
  '$filter',
  '$select',
  '$expand',
  '$orderby',
  '$top',
  '$skip',
  '$count',
  '$skiptoken',
  '$deltatoken',
  '$format',
  '$schemaversion',
] as const
export type SystemOption = (typeof systemOptions)[number]

export interface RawOptions {
  readonly system: ReadonlyMap<SystemOption, string>
  /** The last value of each name without a dollar sign that is no system option. */
  readonly custom: ReadonlyMap<string, string>
}

/** System options are also accepted without the dollar sign and in any case, as in OData 4.01. */
export function systemOption(name: string): SystemOption | undefined {
  const lower = name.toLowerCase()
  const full = lower.startsWith('$') ? lower : `$${lower}`
  return systemOptions.find((one) => one === full)
}

export function parseSearch(search: string): RawOptions {
  const system = new Map<SystemOption, string>()
  const custom = new Map<string, string>()
  for (const part of search.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decoded(equals < 0 ? part : part.slice(0, equals), 'plus-is-blank')
    const value = equals < 0 ? '' : decoded(part.slice(equals + 1), 'plus-is-blank')
    const option = systemOption(name)
    if (option === undefined) {
      if (name.startsWith('$')) throw unknownOption(name)
      custom.set(name, value)
    } else if (system.has(option)) {
      throw refuse.BadRequest({ reason: `The option '${option}' is given twice.` })
    } else {
      system.set(option, value)
    }
  }
  return { system, custom }
}

export function unknownOption(name: string): Error {
  const known = systemOptions.join(', ')
  return refuse.BadRequest({
    reason: `The option '${name.slice(0, 60)}' is not supported; there are ${known}.`,
  })
}

/** Splits at `mark` outside of quotes and parentheses. */
export function splitOutside(text: string, mark: ',' | ';'): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let quoted = false
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const one = text[at]
    if (one === "'") quoted = !quoted
    else if (quoted) continue
    else if (one === '(') depth++
    else if (one === ')') depth--
    else if (one === mark && depth === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  parts.push(text.slice(from))
  return parts
}
