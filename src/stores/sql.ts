/**
 * Prepares texts and values of the relational port for a driver: `?` becomes `$n`, and whatever one of the dialects
 * could not carry is refused before it is sent. Knows quotes and comments, and no other grammar.
 */

import type { SqlValue } from './store.ts'

/**
 * Of a longer text a store keeps nothing for its next use: callers make many long ones, and what is prepared takes ten times
 * as much, or more.
 */
export const rememberedCharactersMax = 16_384

/**
 * `?` → `$1`, `$2`, … outside of string literals, quoted names and comments. Since every bare `?` is a
 * parameter, the operators of PostgreSQL that contain one are outside the common subset.
 */
export function numberParameters(text: string): string {
  let out = ''
  let count = 0
  let from = 0
  let at = 0
  while (at < text.length) {
    const end = endOfOpaque(text, at)
    if (end !== undefined) {
      at = end
    } else if (text[at] === '?') {
      count++
      out += `${text.slice(from, at)}$${count}`
      at++
      from = at
    } else {
      at++
    }
  }
  return out + text.slice(from)
}

/** Where the literal, quoted name or comment that begins at `at` ends; `undefined` when none begins there. */
function endOfOpaque(text: string, at: number): number | undefined {
  const first = text[at]
  if (first === "'" || first === '"') return endAfter(text, first, at + 1)
  if (text.startsWith('--', at)) return endAfter(text, '\n', at + 2)
  if (text.startsWith('/*', at)) return endAfter(text, '*/', at + 2)
  return undefined
}

/** A doubled quote ends the literal and begins another, which has the same effect here. */
function endAfter(text: string, mark: string, at: number): number {
  const found = text.indexOf(mark, at)
  return found < 0 ? text.length : found + mark.length
}

const reading = /^\s*(?:select|with|values)\b/i

/** Reads outside transactions run on a shared connection: a write there is a fault. */
export function assertReads(text: string): void {
  if (!reading.test(text)) {
    throw new Error(`Only a query may run outside of a transaction, not: ${text.slice(0, 80)}`)
  }
}

/** PostgreSQL text cannot hold NUL, and SQLite would cut such text in some functions: a fault in both. */
export function assertCarried(values: readonly SqlValue[]): void {
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (typeof value === 'string' && value.includes('\0')) {
      throw new Error(`Parameter ${at + 1} holds a NUL character, which text in a store cannot.`)
    }
  }
}
