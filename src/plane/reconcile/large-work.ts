/**
 * How much of large resources background work has in memory at once. A step reads its resource whole, and may keep it for
 * minutes, as a deployment does that waits for its allowance; there may be a hundred steps under way. What finds no room is
 * given back, so that it keeps nobody's place.
 */

/** Characters of a row. Smaller ones are bounded by the number of steps. */
const largeFrom = 256 * 1024
/** Of one resource group, and of all. One row may have more, where nothing else is under way. */
const charactersOfGroupMax = 8 * 1024 * 1024
const charactersMax = 32 * 1024 * 1024

export class LargeWork {
  readonly #byGroup = new Map<string, number>()
  #sum = 0

  /** Undefined where there is no room; otherwise it is to be called at the end. */
  enter(group: string, characters: number): (() => void) | undefined {
    if (characters < largeFrom) return () => {}
    const own = this.#byGroup.get(group) ?? 0
    if (own > 0 && own + characters > charactersOfGroupMax) return undefined
    if (this.#sum > 0 && this.#sum + characters > charactersMax) return undefined
    this.#add(group, characters)
    return () => this.#add(group, -characters)
  }

  #add(group: string, characters: number): void {
    const own = (this.#byGroup.get(group) ?? 0) + characters
    if (own === 0) this.#byGroup.delete(group)
    else this.#byGroup.set(group, own)
    this.#sum += characters
  }
}
