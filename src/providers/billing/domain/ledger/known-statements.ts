/** What statements consist of, kept in mind between questions. Reads nothing itself. */

import type { Dimension, Statement, Totals } from './entry.ts'

export interface KnownDimension {
  readonly id: number
  readonly dimension: Dimension
  readonly entries: number
  readonly totals: Totals
}

/**
 * What statements were found to consist of, by how many entries they had: with the same number it is the same.
 * Bounded by the dimensions in it.
 */
export class KnownStatements {
  readonly #known = new Map<
    number,
    { readonly entries: number; readonly dimensions: readonly KnownDimension[] }
  >()
  /** Some or all of them, as questions chose or sorted them. */
  readonly #derived = new WeakMap<
    readonly KnownDimension[],
    Map<string, readonly KnownDimension[]>
  >()
  #size = 0

  get({ id, entries }: Statement): readonly KnownDimension[] | undefined {
    const known = this.#known.get(id)
    return known?.entries === entries ? known.dimensions : undefined
  }

  put({ id, entries }: Statement, dimensions: readonly KnownDimension[]): void {
    this.#size += dimensions.length
    if (this.#size > rememberedMax) {
      this.#known.clear()
      this.#size = dimensions.length
    }
    this.#known.set(id, { entries, dimensions })
  }

  forget(): void {
    this.#known.clear()
    this.#size = 0
  }

  /** `make` may depend on what `spelling` spells, and on nothing else. */
  derived(
    dimensions: readonly KnownDimension[],
    spelling: string,
    make: () => readonly KnownDimension[],
  ): readonly KnownDimension[] {
    const all = this.#derived.get(dimensions) ?? new Map<string, readonly KnownDimension[]>()
    this.#derived.set(dimensions, all)
    const found = all.get(spelling)
    if (found !== undefined) return found
    const made = make()
    if (all.size >= derivedMax) all.clear()
    all.set(spelling, made)
    return made
  }
}

const rememberedMax = 50_000
const derivedMax = 16
