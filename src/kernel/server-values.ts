/**
 * Reads the values of PostgreSQL servers that users name. The server says which type each value has, and some of the driver's own
 * readers never end, or take the square of the length: such a value would stop the process. So few types are read here,
 * each in one pass, and all others stay text.
 */

type Reader = (text: string) => unknown

/** Longer lists and JSON are refused: they are read in one piece, while everything else waits. */
const charactersMax = 4 * 2 ** 20
/** Of one JSON value. Each takes ten times the memory of its text. */
const bracketsMax = 10_000
const digitsMax = 40

/** For `types` of the driver's configuration. Every reader throws `RangeError` for text that is none of its type. */
export const serverTypes = {
  getTypeParser(type: number, format?: 'text' | 'binary'): Reader {
    // Nothing here asks for it, and the driver would believe the counts in it.
    if (format === 'binary') return () => unreadable('a binary value')
    return readers.get(type) ?? asText
  },
}

const asText: Reader = (text) => text

function unreadable(what: string): never {
  throw new RangeError(`${what} cannot be read`)
}

function readNumber(text: string): number {
  return text.length > digitsMax ? unreadable('a number') : Number(text)
}

function readJson(text: string): unknown {
  if (text.length > charactersMax || countBrackets(text) > bracketsMax) unreadable('JSON')
  return JSON.parse(text)
}

/** Outside of its texts. */
function countBrackets(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '[' || character === '{') count++
    if (character !== '"') continue
    for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++
  }
  return count
}

/** The server's form of a list of texts: `{a,"b, c",NULL}`, with its bounds before it where they are unusual. */
function readTexts(text: string): readonly (string | null)[] {
  const begins = text.indexOf('{') + 1
  const ends = text.length - 1
  if (begins === 0 || text[ends] !== '}' || text.length > charactersMax) unreadable('a list')
  const found: (string | null)[] = []
  let at = begins
  while (at < ends) {
    const isQuoted = text[at] === '"'
    const next = isQuoted ? readQuoted(text, at, found) : readBare(text, at, found)
    if (next < ends && text[next] !== ',') unreadable('a list')
    at = next + 1
  }
  return found
}

/** Returns where it ends. */
function readBare(text: string, from: number, found: (string | null)[]): number {
  const comma = text.indexOf(',', from)
  const to = comma < 0 ? text.length - 1 : comma
  const value = text.slice(from, to)
  // A list in a list.
  if (value.startsWith('{')) unreadable('a list')
  found.push(value === 'NULL' ? null : value)
  return to
}

function readQuoted(text: string, from: number, found: (string | null)[]): number {
  let value = ''
  let start = from + 1
  let at = start
  for (; text[at] !== '"'; at++) {
    if (at >= text.length) unreadable('a list')
    if (text[at] !== '\\') continue
    value += text.slice(start, at)
    start = ++at
  }
  found.push(value + text.slice(start, at))
  return at + 1
}

/** By the server's numbers of types: bool, int2, int4, oid, float4, float8, json, jsonb, text[]. */
const readers: ReadonlyMap<number, Reader> = new Map<number, Reader>([
  [16, (text) => text === 't'],
  [21, readNumber],
  [23, readNumber],
  [26, readNumber],
  [700, readNumber],
  [701, readNumber],
  [114, readJson],
  [3802, readJson],
  [1009, readTexts],
])
