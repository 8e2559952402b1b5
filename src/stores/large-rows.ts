/** The sizes of large rows, as they were seen last: whoever reads one can wait for room before its text is in memory. */

import { objectCharacters, weightOf } from '#kernel/json-weight.ts'
import type { ResourceRow } from './store.ts'

/** Characters of a document. Smaller ones are bounded by the number of requests and of steps. */
export const largeFrom = 256 * 1024
/** Each object takes two characters of text, so no document weighs more than so many times its length. */
const densest = 1 + objectCharacters / 2
/** Keys that are remembered. */
const keysMax = 10_000

export class LargeRows {
  readonly #lengths = new Map<string, number>()
  /** How long the remembered keys are: only at these places of another key can one of them end. */
  readonly #keyLengths = new Set<number>()

  note({ key, document }: ResourceRow): void {
    const { length } = document
    const weight = length * densest >= largeFrom ? weightOf(document) : length
    if (weight < largeFrom) {
      this.forget(key)
      return
    }
    if (this.#lengths.size >= keysMax) this.#clear()
    this.#lengths.set(key, weight)
    this.#keyLengths.add(key.length)
  }

  forget(key: string): void {
    if (this.#lengths.size === 0) return
    this.#lengths.delete(key)
    if (this.#lengths.size === 0) this.#clear()
  }

  #clear(): void {
    this.#lengths.clear()
    this.#keyLengths.clear()
  }

  /** Of the row with the key and those above it. */
  at(key: string): number {
    if (this.#lengths.size === 0) return 0
    let sum = 0
    for (let end = key.length; end > 0; end = key.lastIndexOf('/', end - 1)) {
      if (this.#keyLengths.has(end)) sum += this.#lengths.get(key.slice(0, end)) ?? 0
    }
    return sum
  }
}
