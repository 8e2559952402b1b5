/**
 * Counts the depth and the members of a JSON text before it is parsed: a parser makes an object for each, and a
 * small text may hold millions. It accepts text that is no JSON and reads no values.
 */

import type { Limits } from './limits.ts'

export interface JsonSizeLimits {
  readonly depthMax: number
  /** Objects, lists, and their members, all together. */
  readonly membersMax: number
  /**
   * Members of one object. Beyond some thousands the JavaScript engine makes a table of them, which is slow to
   * walk.
   */
  readonly propertiesMax: number
}

/** The limits for bodies of requests. */
export function jsonSizeLimitsOf(limits: Limits): JsonSizeLimits {
  return {
    depthMax: limits.bodyDepthMax,
    membersMax: limits.bodyMembersMax,
    propertiesMax: limits.bodyPropertiesMax,
  }
}

interface JsonExcess {
  /** The byte at which the limit is passed. */
  readonly at: number
  readonly limit: keyof JsonSizeLimits
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

/**
 * The bytes of a string that are checked one by one. Most strings end within them, and a search would cost more.
 */
const nearLength = 32

/** Bytes between two pauses: a few milliseconds of work, also before the engine has compiled the loop. */
const bytesAtOnce = 256 * 1024

/** Undefined when the text is within all limits. */
export function jsonExcess(text: Uint8Array, limits: JsonSizeLimits): JsonExcess | undefined {
  return countUntil(text.length, text, limits, notCounted())
}

/** The same, with a yield after each slice of the text, so that a server can do other work in between. */
export function* jsonExcessInSlices(
  text: Uint8Array,
  limits: JsonSizeLimits,
): Generator<void, JsonExcess | undefined> {
  const count = notCounted()
  for (;;) {
    const until = Math.min(text.length, count.at + bytesAtOnce)
    const excess = countUntil(until, text, limits, count)
    if (excess !== undefined || count.at >= text.length) return excess
    yield
  }
}

/** What was counted up to a byte, outside of strings. */
interface Count {
  at: number
  depth: number
  members: number
  /** The number of commas in each open object, outermost first; lists are not counted. */
  readonly open: number[]
}

function notCounted(): Count {
  return { at: 0, depth: 0, members: 0, open: [] }
}

/** A string is read to its end, also behind `until`. The bytes searched for never occur inside another UTF-8 character. */
function countUntil(
  until: number,
  text: Uint8Array,
  { depthMax, membersMax, propertiesMax }: JsonSizeLimits,
  count: Count,
): JsonExcess | undefined {
  const { open } = count
  let { at, depth, members } = count
  for (; at < until; at++) {
    const code = text[at]
    if (code === quote) {
      at = closingQuote(text, at)
      if (at < 0) at = text.length
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
  count.at = at
  count.depth = depth
  count.members = members
  return undefined
}

/** The position of the quote that ends the string begun at `open`, or -1 where none is found before `limit`. */
export function closingQuote(text: Uint8Array, open: number, limit = text.length): number {
  const near = Math.min(limit, open + 1 + nearLength)
  for (let at = open + 1; at < limit; at++) {
    // A long string is skipped as a whole if its first quote is not escaped.
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
