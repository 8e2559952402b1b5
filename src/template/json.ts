/**
 * Parses JSON text with the position of every value. Comments and trailing commas are accepted. A name given twice
 * in one object, and text that is too large or nested too deeply, are refused. Objects have no prototype.
 */
import { exactJsonText } from '#kernel/exact-json.ts'
import { JsonCursor } from './json-cursor.ts'
import type { Json } from './plan.ts'

export const jsonLimits = { characters: 4 * 1024 * 1024, depth: 128 } as const

/** A line and a column, counted from 1. */
interface LineColumn {
  readonly line: number
  readonly column: number
}

interface JsonFault extends LineColumn {
  /** Keys from the root down. */
  readonly keys: readonly (string | number)[]
  readonly message: string
}

/** A parsed text: its value and the positions in it. */
interface ReadText {
  readonly value: Json
  /**
   * The position of the value at these keys, or of its nearest existing ancestor. `within` counts the characters of
   * a string's value.
   */
  locate(keys: readonly (string | number)[], within?: number): LineColumn
}

type ReadJson =
  | { readonly ok: true; readonly value: ReadText }
  | { readonly ok: false; readonly faults: readonly JsonFault[] }

export function readJson(text: string): ReadJson {
  if (text.length > jsonLimits.characters) {
    const message = `a template has at most ${jsonLimits.characters} characters; this has ${text.length}`
    return { ok: false, faults: [{ line: 1, column: 1, keys: [], message }] }
  }
  const reader = new JsonReader(text, undefined)
  const value = reader.read()
  if (reader.faults.length > 0) {
    const places = reader.faults.map(({ at, keys, message }) => ({
      ...lineColumn(text, at),
      keys,
      message,
    }))
    return { ok: false, faults: places }
  }
  let offsets: Offsets | undefined
  let starts: readonly number[] | undefined
  return {
    ok: true,
    value: {
      value,
      locate(keys, within = 0) {
        offsets ??= offsetsOf(text)
        starts ??= lineStarts(text)
        return inLines(starts, offsetAt(text, offsets, keys, within))
      },
    },
  }
}

/** The positions of the members of every object and array. */
type Offsets = Map<object | null, Map<string | number, readonly [at: number, value: Json]>>

/** Positions are needed only for a problem, so only then is the text parsed again for them. */
function offsetsOf(text: string): Offsets {
  const offsets: Offsets = new Map()
  new JsonReader(text, offsets).read()
  return offsets
}

function offsetAt(
  text: string,
  offsets: Offsets,
  keys: readonly (string | number)[],
  within: number,
): number {
  let [at, value] = offsets.get(null)?.get('') ?? [0, null]
  for (const key of keys) {
    const found =
      typeof value === 'object' && value !== null ? offsets.get(value)?.get(key) : undefined
    if (found === undefined) return at
    ;[at, value] = found
  }
  return typeof value === 'string' && within > 0 ? insideString(text, at, within) : at
}

/** Escapes are longer in the text than in the value. */
function insideString(text: string, start: number, within: number): number {
  let at = start + 1
  for (let left = within; left > 0 && text[at] !== '"'; left -= 1) {
    if (text[at] === '\\') at += text[at + 1] === 'u' ? 6 : 2
    else at += 1
  }
  return at
}

export function lineColumn(text: string, at: number): LineColumn {
  return inLines(lineStarts(text), at)
}

function lineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
    starts.push(end + 1)
  }
  return starts
}

/** Every resource has a position, so lines are found by binary search. */
function inLines(starts: readonly number[], at: number): LineColumn {
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((starts[middle] ?? 0) <= at) low = middle
    else high = middle
  }
  return { line: low + 1, column: at - (starts[low] ?? 0) + 1 }
}

interface Fault {
  readonly at: number
  readonly keys: readonly (string | number)[]
  readonly message: string
}

const faultsMax = 50
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a string may not hold is what it looks for.
const plainPattern = /[^"\\\u0000-\u001f]*/y
const wordPattern = /[A-Za-z]+/y
/** Stops at the first fault. A name given twice with different values is no fault here. */
class JsonReader extends JsonCursor {
  readonly faults: Fault[] = []
  readonly #offsets: Offsets | undefined
  readonly #keys: (string | number)[] = []
  #isStopped = false

  constructor(text: string, offsets: Offsets | undefined) {
    super(text)
    this.#offsets = offsets
  }

  read(): Json {
    this.space()
    const at = this.at
    const value = this.#value(0)
    this.#offsets?.set(null, new Map([['', [at, value]]]))
    this.space()
    if (this.at < this.text.length) this.stop('expected the end of the text')
    return value
  }

  #value(depth: number): Json {
    if (depth > jsonLimits.depth) return this.stop(`JSON nests at most ${jsonLimits.depth} deep`)
    const character = this.text[this.at]
    if (character === '{') return this.#object(depth)
    if (character === '[') return this.#array(depth)
    if (character === '"') return this.#string()
    return this.scalar(wordPattern)
  }

  #object(depth: number): Json {
    const made: Record<string, Json> = Object.create(null)
    const offsets = this.#members(made)
    const seen = new Set<string>()
    this.at += 1
    this.space()
    if (this.take('}')) return made
    while (!this.#isStopped) {
      const nameAt = this.at
      if (this.text[nameAt] !== '"') return this.stop("expected a property's name in quotes")
      const name = this.#string()
      this.#keys.push(name)
      const before = seen.has(name) ? exactJsonText(made[name]) : undefined
      seen.add(name)
      this.space()
      if (!this.take(':')) this.stop("expected ':'")
      this.space()
      const at = this.at
      const value = this.#isStopped ? null : this.#value(depth + 1)
      if (before !== undefined && before !== exactJsonText(value)) {
        this.#fault(nameAt, `the property '${name.slice(0, 60)}' is given twice`)
      }
      made[name] = value
      offsets?.set(name, [at, value])
      this.space()
      const isLast = !this.#isStopped && this.take('}')
      if (!isLast && !this.#isStopped && !this.take(',')) this.stop("expected ',' or '}'")
      this.#keys.pop()
      if (isLast) return made
      this.space()
      if (this.take('}')) return made
    }
    return made
  }

  #array(depth: number): Json {
    const made: Json[] = []
    const offsets = this.#members(made)
    this.at += 1
    this.space()
    if (this.take(']')) return made
    while (!this.#isStopped) {
      this.#keys.push(made.length)
      const at = this.at
      const value = this.#value(depth + 1)
      offsets?.set(made.length, [at, value])
      made.push(value)
      this.space()
      const isLast = !this.#isStopped && this.take(']')
      if (!isLast && !this.#isStopped && !this.take(',')) this.stop("expected ',' or ']'")
      this.#keys.pop()
      if (isLast) return made
      this.space()
      if (this.take(']')) return made
    }
    return made
  }

  #members(made: object): Map<string | number, readonly [number, Json]> | undefined {
    const members = this.#offsets === undefined ? undefined : new Map()
    if (members !== undefined) this.#offsets?.set(made, members)
    return members
  }

  /** Strings may contain line breaks and tabs: long expressions are written that way. */
  #string(): string {
    const start = this.at
    this.at += 1
    let value = ''
    for (;;) {
      value += this.match(plainPattern)
      const character = this.text[this.at]
      this.at += 1
      if (character === '"') return value
      if (character === '\n' || character === '\r' || character === '\t') value += character
      else if (character !== '\\') {
        this.at = character === undefined ? start : this.at - 1
        const isOpen = character === undefined
        this.stop(isOpen ? 'the string has no closing quote' : 'a control character in a string')
        return ''
      } else {
        const escaped = this.escape()
        if (escaped === undefined) {
          this.stop('an escape that JSON does not know')
          return ''
        }
        value += escaped
      }
    }
  }

  protected override stop(message: string): null {
    if (!this.#isStopped) this.#fault(this.at, message)
    this.#isStopped = true
    return null
  }

  #fault(at: number, message: string): void {
    if (this.faults.length < faultsMax) this.faults.push({ at, keys: [...this.#keys], message })
  }
}
