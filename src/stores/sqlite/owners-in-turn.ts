/**
 * Which of the waiting transactions go into the next batch: the owners take turns, whoever was served longest ago first,
 * and of one owner in order of arrival. One who writes for long has a batch of their own, so that the commit of others waits
 * for no more than what is under way. It runs nothing.
 */

import { ticks } from '../next-turn.ts'

interface Owned {
  readonly owner?: string | undefined
}

/** A transaction that takes longer makes its owner one who writes for long, until the next that does not. */
const longMilliseconds = 50
/** Owners that are remembered; all are forgotten beyond. */
const rememberedMax = 1_000

export class OwnersInTurn {
  /** The number of the batch in which an owner was served last. */
  readonly #served = new Map<string, number>()
  readonly #writesLong = new Set<string>()
  #batches = 0

  /** Takes what goes next out of `waiting`. */
  take<T extends Owned>(waiting: T[], most: number): readonly T[] {
    // One client waits for itself alone.
    if (waiting.length === 1 && most > 0) return this.#remember(waiting.splice(0))
    const owners = Map.groupBy(waiting, ({ owner = '' }) => owner)
    const chosen = this.#inTurn(owners, most)
    const taken = new Set(chosen)
    const rest = waiting.filter((one) => !taken.has(one))
    waiting.splice(0, waiting.length, ...rest)
    return this.#remember(chosen)
  }

  /** They are served by this batch. */
  #remember<T extends Owned>(chosen: readonly T[]): readonly T[] {
    if (this.#served.size > rememberedMax) this.#served.clear()
    this.#batches++
    for (const { owner = '' } of chosen) this.#served.set(owner, this.#batches)
    return chosen
  }

  async measured(owner = '', attempt: () => Promise<void>): Promise<void> {
    const begun = ticks()
    try {
      await attempt()
    } finally {
      if (ticks() - begun <= longMilliseconds) this.#writesLong.delete(owner)
      else if (this.#writesLong.size < rememberedMax) this.#writesLong.add(owner)
    }
  }

  #inTurn<T extends Owned>(owners: ReadonlyMap<string, readonly T[]>, most: number): readonly T[] {
    // Of those who were served together, whoever writes for long comes last.
    const rankOf = ([owner]: readonly [string, unknown]): number =>
      2 * (this.#served.get(owner) ?? 0) + (this.#writesLong.has(owner) ? 1 : 0)
    const inOrder = [...owners].toSorted((a, b) => rankOf(a) - rankOf(b))
    const chosen: T[] = []
    const rounds = Math.max(...inOrder.map(([, own]) => own.length))
    for (let round = 0; round < rounds; round++) {
      for (const [owner, own] of inOrder) {
        const one = own[round]
        if (one === undefined) continue
        const isAlone = this.#writesLong.has(owner)
        if (chosen.length === most) return chosen
        // Its turn is the next batch: it was then served longer ago than those of this one.
        if (isAlone && chosen.length > 0) continue
        chosen.push(one)
        if (isAlone) return chosen
      }
    }
    return chosen
  }
}
