/**
 * How much of large resources background work has in memory at once. A step reads its resource whole, and may keep it for
 * minutes, as a deployment does that waits for its allowance; there may be a hundred steps under way. What finds no room is
 * given back, so that it keeps nobody's place.
 */

import { subscriptionKey } from '#kernel/resource-id.ts'
import { largeFrom } from '#stores/large-rows.ts'

/** Of one group, of one subscription or all management groups, and of all. One row may have more, where nothing else of it is under way. */
const charactersOfGroupMax = 8 * 1024 * 1024
const charactersOfSubscriptionMax = 16 * 1024 * 1024
const charactersMax = 32 * 1024 * 1024

export class LargeWork {
  /** By resource group, by subscription, and of all under the empty name. */
  readonly #taken = new Map<string, number>()

  /** Undefined where there is no room; otherwise it is to be called at the end. */
  enter(group: string, characters: number): (() => void) | undefined {
    if (characters < largeFrom) return () => {}
    const places = [
      [group, charactersOfGroupMax],
      [`${subscriptionKey(group)} `, charactersOfSubscriptionMax],
      ['', charactersMax],
    ] as const
    for (const [place, most] of places) {
      const taken = this.#taken.get(place) ?? 0
      if (taken > 0 && taken + characters > most) return undefined
    }
    for (const [place] of places) this.#add(place, characters)
    return () => {
      for (const [place] of places) this.#add(place, -characters)
    }
  }

  #add(place: string, characters: number): void {
    const taken = (this.#taken.get(place) ?? 0) + characters
    if (taken === 0) this.#taken.delete(place)
    else this.#taken.set(place, taken)
  }
}
