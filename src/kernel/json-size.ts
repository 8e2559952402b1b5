/**
 * How deep a JSON text is nested and how many members it has, counted before it is parsed: a parser makes an object for
 * each, and a small text may hold millions. Tolerates text that is no JSON; knows no values.
 */

import type { Limits } from './limits.ts'

export interface JsonSizeLimits {
  readonly depthMax: number
  /** Objects, lists, and what stands in them, all together. */
  readonly membersMax: number
  /** Members of one object: beyond some thousands an engine makes a table of them, which is slow to walk. */
  readonly propertiesMax: number
}

/** Of the bodies of requests. */
export function jsonSizeLimitsOf(limits: Limits): JsonSizeLimits {
  return {
    depthMax: limits.bodyDepthMax,
    membersMax: limits.bodyMembersMax,
    propertiesMax: limits.bodyPropertiesMax,
  }
}

interface JsonExcess {
  /** The byte where the limit is passed. */
  readonly at: number
  readonly limit: keyof JsonSizeLimits
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

/** Bytes of a string that are looked at one by one: most strings end there, and a search would cost more. */
const nearLength = 32

/** Undefined where the text keeps all limits. In UTF-8 none of the signs looked for is part of another. */
export function jsonExcess(
  text: Uint8Array,
  { depthMax, membersMax, propertiesMax }: JsonSizeLimits,
): JsonExcess | undefined {
  let depth = 0
  let members = 0
  /** Commas of what is open, outermost first; of lists they are not counted. */
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text[at]
    if (code === quote) {
      at = closingQuote(text, at)
      if (at < 0) return undefined
    } else if (code === comma || code === 0x7b || code === 0x5b) {
      members += 1
      if (members > membersMax) return { at, limit: 'membersMax' }
      if (code === comma) {
        const commas = (open[depth] ?? Number.NEGATIVE_INFINITY) + 1
        if (commas >= propertiesMax) return { at, limit: 'propertiesMax' }
        open[depth] = commas
        continue
      }
      depth += 1
      if (depth > depthMax) return { at, limit: 'depthMax' }
      open[depth] = code === 0x7b ? 0 : Number.NEGATIVE_INFINITY
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
  return undefined
}

/** The quote that ends the string begun at `open`, or -1. */
function closingQuote(text: Uint8Array, open: number): number {
  const near = Math.min(text.length, open + 1 + nearLength)
  for (let at = open + 1; at < text.length; at++) {
    // A long string is passed over as a whole, where its first quote is not an escaped one.
    if (at === near) {
      const next = text.indexOf(quote, at)
      if (next < 0 || text[next - 1] !== backslash) return next
    }
    const code = text[at]
    if (code === quote) return at
    if (code === backslash) at += 1
  }
  return -1
}
