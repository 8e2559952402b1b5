/** Computes the wait before a failed attempt is repeated. */

interface BackOff {
  /** The wait before the first repetition, in any unit of time. */
  readonly first: number
  readonly most: number
}

/** The wait doubles with each attempt; attempts are counted from 0. */
export function backOff({ first, most }: BackOff, attempt: number): number {
  return Math.min(most, first * 2 ** attempt)
}
