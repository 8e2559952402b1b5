/**
 * Keeps a copy as current as its feed: every `ensure` reads the feed's position, and catches up when it moved. Concurrent
 * callers share one catch-up. Reads of positions are not shared here: the store knows which of them may be one statement.
 */

export type Position = number | Promise<number>

export interface Freshness {
  /**
   * `undefined` when the copy is known to be fresh without waiting; else resolves when it holds every change
   * acknowledged before the call. Rejects when the feed cannot be read; the copy is then as it was.
   */
  ensure(): Promise<void> | undefined
  /** The position of the copy; `undefined` before the first load. */
  readonly position: number | undefined
  /** Resolves when no catch-up is in progress. */
  settled(): Promise<void>
}

/**
 * `advance` brings the copy from a position (`undefined`: from nothing) at least to another, and answers how
 * far it came. Never called twice at once.
 */
export function createFreshness(
  look: () => Position,
  advance: (from: number | undefined, to: number) => Promise<number>,
): Freshness {
  let reached: number | undefined
  let advancing: Promise<void> | undefined

  async function step(target: number): Promise<void> {
    reached = await advance(reached, target)
  }

  async function reach(target: number): Promise<void> {
    while (reached === undefined || reached < target) {
      advancing ??= step(target).finally(() => {
        advancing = undefined
      })
      await advancing
    }
  }

  function arrived(position: number): Promise<void> | undefined {
    return reached !== undefined && reached >= position ? undefined : reach(position)
  }

  return {
    ensure() {
      const position = look()
      return typeof position === 'number' ? arrived(position) : position.then(arrived)
    },
    get position() {
      return reached
    },
    async settled() {
      await Promise.allSettled([advancing])
    },
  }
}
