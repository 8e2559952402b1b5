/**
 * Reads JSON out of a string of a template, which is often written by hand: strings in single quotes, names
 * without quotes, comments and commas at an end are taken. Of a name given twice the last one counts.
 */
import { jsonLimits } from '../json.ts'
import { JsonCursor } from '../json-cursor.ts'
import type { Json } from '../plan.ts'

type ReadValue =
  | { readonly ok: true; readonly value: Json }
  /** `at` is the offset of what was not expected. */
  | { readonly ok: false; readonly at: number; readonly message: string }

export function readLenientJson(text: string): ReadValue {
  const reader = new LenientReader(text)
  const value = reader.read()
  const { fault } = reader
  return fault === undefined ? { ok: true, value } : { ok: false, ...fault }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a string may not hold is what it looks for.
const plainPattern = /[^'"\\\u0000-\u001f]*/y
const wordPattern = /[A-Za-z_$][A-Za-z0-9_$]*/y

/** The first fault stops it wherever it is. */
class LenientReader extends JsonCursor {
  fault: { readonly at: number; readonly message: string } | undefined

  read(): Json {
    this.space()
    const value = this.#value(0)
    this.space()
    if (this.at < this.text.length) this.stop('expected the end')
    return value
  }

  #value(depth: number): Json {
    if (depth > jsonLimits.depth) return this.stop(`JSON nests at most ${jsonLimits.depth} deep`)
    const character = this.text[this.at]
    if (character === '{') return this.#object(depth)
    if (character === '[') return this.#array(depth)
    if (character === '"' || character === "'") return this.#string(character)
    return this.scalar(wordPattern)
  }

  #object(depth: number): Json {
    const made: Record<string, Json> = Object.create(null)
    this.#begin()
    while (this.fault === undefined && !this.take('}')) {
      const name = this.#name()
      this.space()
      if (!this.take(':')) return this.stop("expected ':'")
      this.space()
      made[name] = this.#value(depth + 1)
      this.#next('}')
    }
    return made
  }

  #array(depth: number): Json {
    const made: Json[] = []
    this.#begin()
    while (this.fault === undefined && !this.take(']')) {
      made.push(this.#value(depth + 1))
      this.#next(']')
    }
    return made
  }

  #begin(): void {
    this.at += 1
    this.space()
  }

  /** Behind an element there is a comma or the end; behind a comma there may be the end too. */
  #next(end: string): void {
    this.space()
    if (this.fault !== undefined || this.text[this.at] === end) return
    if (!this.take(',')) this.stop(`expected ',' or '${end}'`)
    this.space()
  }

  #name(): string {
    const character = this.text[this.at]
    if (character === '"' || character === "'") return this.#string(character)
    const word = this.match(wordPattern)
    if (word === '') this.stop("expected a property's name")
    return word
  }

  #string(quote: string): string {
    const start = this.at
    const parts: string[] = []
    this.at += 1
    for (;;) {
      parts.push(this.match(plainPattern))
      const character = this.text[this.at]
      if (character === undefined) {
        this.at = start
        this.stop('the string has no closing quote')
        return ''
      }
      this.at += 1
      if (character === quote) return parts.join('')
      const written = character === '\\' ? this.#written() : character
      if (written === undefined) {
        this.stop('an escape that JSON does not know')
        return ''
      }
      parts.push(written)
    }
  }

  /** Here a single quote may be escaped too. */
  #written(): string | undefined {
    return this.take("'") ? "'" : this.escape()
  }

  protected override stop(message: string): null {
    this.fault ??= { at: this.at, message }
    return null
  }
}
