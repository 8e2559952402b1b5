/**
 * Keeps a copy as current as its feed: every `ensure` reads the feed's position, and catches up when it moved.
 * Concurrent callers share one read and one catch-up.
 */

export type Position = number | Promise<number>

interface Freshness {
  /**
   * `undefined` when the copy is known to be fresh without waiting; else resolves when it holds every change
   * acknowledged before the call. Rejects when the feed cannot be read; the copy is then as it was.
   */
  ensure(): Promise<void> | undefined
  /** The position of the copy; `undefined` before the first load. */
  readonly position: number | undefined
  /** Resolves when nothing is in progress. */
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
  /** A read that has not begun yet: callers before its start may share it. */
  let nextLook: Promise<number> | undefined
  let looking: Promise<unknown> | undefined

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

  /**
   * A read that began before the caller came may miss later acknowledged changes, so the caller waits for the next.
   */
  function shared(first: Promise<number>): Promise<number> {
    looking = first
    const done = (): void => {
      if (looking === first) looking = undefined
    }
    first.then(done, done)
    return first
  }

  return {
    ensure() {
      if (nextLook !== undefined) return nextLook.then(arrived)
      if (looking !== undefined) {
        const begin = (): Promise<number> => {
          nextLook = undefined
          return shared(Promise.resolve(look()))
        }
        nextLook = looking.then(begin, begin)
        return nextLook.then(arrived)
      }
      const position = look()
      return typeof position === 'number' ? arrived(position) : shared(position).then(arrived)
    },
    get position() {
      return reached
    },
    async settled() {
      await Promise.allSettled([looking, advancing])
    },
  }
}
