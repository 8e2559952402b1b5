/** Remembers the content of statements between queries. It reads nothing itself. */

import { charactersOf } from './dimensions.ts'
import type { Dimension, Statement, Totals } from './entry.ts'

export interface KnownDimension {
  readonly id: number
  readonly dimension: Dimension
  readonly entries: number
  readonly totals: Totals
}

/**
 * The content of statements, by their number of entries: in one state of the store the same number means the same
 * content. The characters of dimensions bound it.
 */
export class KnownStatements {
  readonly #known = new Map<
    number,
    {
      readonly entries: number
      readonly restoration: string
      readonly dimensions: readonly KnownDimension[]
      readonly characters: number
    }
  >()
  /** Selections and orders that earlier queries made. */
  readonly #derived = new WeakMap<
    readonly KnownDimension[],
    Map<string, readonly KnownDimension[]>
  >()
  #characters = 0

  get({ id, entries }: Statement, restoration: string): readonly KnownDimension[] | undefined {
    const known = this.#known.get(id)
    if (known?.entries !== entries || known.restoration !== restoration) return undefined
    return known.dimensions
  }

  put(
    { id, entries }: Statement,
    restoration: string,
    dimensions: readonly KnownDimension[],
  ): void {
    this.#characters -= this.#known.get(id)?.characters ?? 0
    this.#known.delete(id)
    const characters = dimensions.reduce((sum, one) => sum + charactersOf(one.dimension), 0)
    // A larger one is read for each query.
    if (characters > charactersMax) return
    this.#characters += characters
    if (this.#characters > charactersMax) {
      this.#known.clear()
      this.#characters = characters
    }
    this.#known.set(id, { entries, restoration, dimensions, characters })
  }

  /** `make` may depend only on what `spelling` contains. */
  derived(
    dimensions: readonly KnownDimension[],
    spelling: string,
    make: () => readonly KnownDimension[],
  ): readonly KnownDimension[] {
    return this.kept(dimensions, spelling) ?? this.keep(dimensions, spelling, make())
  }

  kept(
    dimensions: readonly KnownDimension[],
    spelling: string,
  ): readonly KnownDimension[] | undefined {
    return this.#derived.get(dimensions)?.get(spelling)
  }

  /** `made` may depend only on what `spelling` contains. */
  keep(
    dimensions: readonly KnownDimension[],
    spelling: string,
    made: readonly KnownDimension[],
  ): readonly KnownDimension[] {
    const all = this.#derived.get(dimensions) ?? new Map<string, readonly KnownDimension[]>()
    this.#derived.set(dimensions, all)
    if (all.size >= derivedMax) all.clear()
    all.set(spelling, made)
    return made
  }
}

/** They are in memory once more, as the text that is searched. */
const charactersMax = 16 * 1024 * 1024
const derivedMax = 16
