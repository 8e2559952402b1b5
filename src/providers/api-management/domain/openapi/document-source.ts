/**
 * What the operations of a document are read from: its references, and how much may be made of it. A few references make
 * much of little, each time they are used again; so what operations get is counted where it is taken, and nothing more is
 * taken once it is too much.
 */

import { isJsonObject } from '#kernel/patch.ts'

type Json = Readonly<Record<string, unknown>>

/** The characters of all operations of a document, including what they refer to. */
export const charactersMax = 4_000_000
/** The cost of an element besides its texts. */
const elementCharacters = 32
const referenceLengthMax = 1000
const stepsMax = 10

const listMax = 500

/** Of what is none: an empty one. */
export function objectOf(value: unknown): Json {
  return isJsonObject(value) ? value : {}
}

/** As much of a list as a document may have. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, listMax) : []
}

export class DocumentSource {
  readonly #document: Json
  readonly #references = new Map<string, unknown>()
  /** The JSON of values that several places share. */
  readonly #texts = new WeakMap<object, string>()
  #left = charactersMax

  constructor(document: Json) {
    this.#document = document
  }

  get isSpent(): boolean {
    return this.#left < 0
  }

  /** Counts a value. */
  spend(value: unknown): void {
    if (typeof value === 'string') this.#left -= value.length
    else if (typeof value === 'object' && value !== null) this.#left -= this.#json(value).length
    else this.#left -= elementCharacters
  }

  /** A value as the text that an operation stores; counted. */
  text(value: unknown): string {
    if (this.isSpent) return ''
    this.spend(value)
    if (typeof value === 'string') return value
    return typeof value === 'object' && value !== null ? this.#json(value) : String(value)
  }

  /** The members of an object, as far as there is room; counted. */
  entries(value: Json): readonly (readonly [string, unknown])[] {
    if (this.isSpent) return []
    const entries = Object.entries(value)
    this.#left -= entries.length * elementCharacters
    return this.isSpent ? [] : entries
  }

  /** Counts as many elements, which are made of what others refer to as well. */
  spendElements(count: number): void {
    this.#left -= count * elementCharacters
  }

  /** The target of a reference within the document, a few steps on; an empty object when there is none. */
  resolved(given: unknown): Json {
    let value = given
    for (let steps = 0; steps < stepsMax; steps++) {
      if (!isJsonObject(value)) return {}
      const reference = value['$ref']
      if (typeof reference !== 'string') return value
      value = this.#at(reference)
    }
    return {}
  }

  #at(reference: string): unknown {
    if (!reference.startsWith('#/') || reference.length > referenceLengthMax) return undefined
    if (this.#references.has(reference)) return this.#references.get(reference)
    let at: unknown = this.#document
    for (const word of reference.slice(2).split('/')) {
      const key = word.replaceAll('~1', '/').replaceAll('~0', '~')
      if (!isJsonObject(at) || !Object.hasOwn(at, key)) {
        at = undefined
        break
      }
      at = at[key]
    }
    this.#references.set(reference, at)
    return at
  }

  #json(value: object): string {
    const known = this.#texts.get(value)
    if (known !== undefined) return known
    const text = JSON.stringify(value)
    this.#texts.set(value, text)
    return text
  }
}
