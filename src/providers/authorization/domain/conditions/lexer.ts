/**
 * Splits the text of a condition into tokens, one at a time, so that the first fault in reading order is reported.
 * It knows spelling and no grammar.
 */

import type { Literal } from './nodes.ts'

interface Span {
  readonly position: number
  /** The position after the token. */
  readonly end: number
}

export type Token =
  | (Span & { readonly kind: 'word'; readonly text: string })
  | (Span & { readonly kind: 'literal'; readonly literal: Literal })
  /** `@Request[…]`: the source as written, and the text between the brackets. */
  | (Span & { readonly kind: 'attribute'; readonly source: string; readonly text: string })
  | (Span & { readonly kind: 'mark'; readonly text: Mark })
  | (Span & { readonly kind: 'end' })
  /** Not part of the language; `expected` says what would be valid. */
  | (Span & { readonly kind: 'bad'; readonly expected: string })

type Mark = '(' | ')' | '{' | '}' | ',' | ':' | '!' | '&&' | '||'

// These patterns are sticky: `lastIndex` is set before every use, so they hold no state between calls.
const blank = /[ \t\r\n]*/y
const guid = /[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![A-Za-z0-9_-])/y
const integer = /-?\d{1,15}(?![A-Za-z0-9_.])/y
const word = /[A-Za-z][A-Za-z0-9]*/y
const string = /'(?:[^']|'')*'/y
const attribute = /@([A-Za-z]+)\[([^\]\n]*)\]/y
const marks = /[(){},:!]|&&|\|\|/y

export function nextToken(text: string, from: number): Token {
  const position = from + (match(blank, text, from)?.[0].length ?? 0)
  if (position >= text.length) return { kind: 'end', position: text.length, end: text.length }
  const first = text[position]
  if (first === "'") return stringAt(text, position)
  if (first === '@') return attributeAt(text, position)
  const id = match(guid, text, position)?.[0]
  if (id !== undefined) return literal({ type: 'guid', value: id.toLowerCase() }, position, id)
  const number = match(integer, text, position)?.[0]
  if (number !== undefined) {
    // Minus zero becomes zero: there is no other way to write it.
    return literal({ type: 'number', value: Number(number) + 0 }, position, number)
  }
  const name = match(word, text, position)?.[0]
  if (name !== undefined) return wordOf(name, position)
  const mark = match(marks, text, position)?.[0]
  if (mark !== undefined) {
    // The pattern lists exactly the members of the type.
    return { kind: 'mark', text: mark as Mark, position, end: position + mark.length }
  }
  return { kind: 'bad', expected: 'an expression of the language', position, end: position }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function literal(value: Literal, position: number, text: string): Token {
  return { kind: 'literal', literal: value, position, end: position + text.length }
}

function wordOf(name: string, position: number): Token {
  const lower = name.toLowerCase()
  if (lower === 'true' || lower === 'false') {
    return literal({ type: 'boolean', value: lower === 'true' }, position, name)
  }
  return { kind: 'word', text: name, position, end: position + name.length }
}

/** A quote inside a string is doubled. */
function stringAt(text: string, position: number): Token {
  const whole = match(string, text, position)?.[0]
  if (whole === undefined) {
    return { kind: 'bad', expected: 'a string that ends with a quote', position, end: position }
  }
  const value = whole.slice(1, -1).replaceAll("''", "'")
  return literal({ type: 'string', value }, position, whole)
}

function attributeAt(text: string, position: number): Token {
  const found = match(attribute, text, position)
  const [whole, source, inner] = found ?? []
  if (whole === undefined || source === undefined || inner === undefined) {
    const expected = 'an attribute such as @Resource[{type}:{name}]'
    return { kind: 'bad', expected, position, end: position }
  }
  return { kind: 'attribute', source, text: inner, position, end: position + whole.length }
}
