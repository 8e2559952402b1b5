/** Random numbers from a seed: the same seed gives the same requests on every machine. */

export interface Random {
  /** 0 to 1, without 1. */
  next(): number
  below(bound: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
}

/** The mulberry32 generator: small, and good enough to choose requests. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick(from) {
      const one = from[below(from.length)]
      if (one === undefined && from.length === 0) throw new Error('nothing to pick from')
      return one as (typeof from)[number] // the index lies within
    },
  }
}
