/**
 * What a list query covers: the one key and the one range of keys that both dialects scan. Keys compare byte by byte,
 * as in the stores.
 */

import type { ListQuery, UniqueQuery } from './store.ts'

interface KeyRange {
  /** The queried key itself, which sorts before its range but not always directly before it. */
  readonly self: string | undefined
  /** Keys after this one (exclusive). */
  readonly from: string
  /** Keys before this one (exclusive). */
  readonly to: string
}

/** After every key, in UTF-8 as in the stores. */
const afterAll = '\u{10FFFF}'

/**
 * What lies at or below `under` and after `after`. Below a key is everything that begins with it and a
 * slash, up to the character that follows the slash. (No key ends in a slash, so the lower end may be
 * exclusive.)
 */
export function keyRange(query: Pick<ListQuery, 'under' | 'after'>): KeyRange {
  const { under, after } = query
  if (under === '/') return { self: undefined, from: after ?? '', to: afterAll }
  const first = `${under}/`
  const to = `${under}0`
  if (after === undefined) return { self: under, from: first, to }
  if (after.startsWith(first)) return { self: undefined, from: after, to }
  return {
    self: isBefore(after, under) ? under : undefined,
    from: isBefore(after, first) ? first : after,
    to,
  }
}

/** Both ends are exclusive. The prefix itself is not in it. */
export function uniqueRange({
  prefix,
  after,
}: Omit<UniqueQuery, 'limit'>): Pick<KeyRange, 'from' | 'to'> {
  const from = after === undefined || isBefore(after, prefix) ? prefix : after
  return { from, to: `${prefix}${afterAll}` }
}

/** UTF-16 order, which strings have in JavaScript, differs from that of UTF-8 beyond U+D7FF. */
export function compareKeys(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

function isBefore(left: string, right: string): boolean {
  return compareKeys(left, right) < 0
}
