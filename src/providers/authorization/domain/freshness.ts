/**
 * Keeps a copy as current as its feed: every `ensure` reads the feed's position, and catches up when it moved. Concurrent
 * callers share one catch-up. Reads of positions are not shared here: the store knows which of them may be one statement.
 */

export type Position = number | Promise<number>

/** What a copy is of (the store's `Feed`). */
interface Followed {
  position(): Position
  readonly server?: string | undefined
}

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
 * far it came. Never called twice at once. After a change of the server all is copied again.
 */
export function createFreshness(
  feed: Followed,
  advance: (from: number | undefined, to: number) => Promise<number>,
): Freshness {
  let reached: number | undefined
  let server = feed.server
  let advancing: Promise<void> | undefined

  async function step(target: number): Promise<void> {
    const of = server
    const [advanced] = await Promise.allSettled([advance(reached, target)])
    if (advanced.status === 'fulfilled') {
      if (of === server) reached = advanced.value
      return
    }
    // Another server may have given no changes, since it lost them: then all is copied again.
    await feed.position()
    if (of === feed.server) throw advanced.reason
    server = feed.server
    reached = undefined
  }

  async function reach(target: number): Promise<void> {
    const of = server
    while (of === server && (reached === undefined || reached < target)) {
      advancing ??= step(target).finally(() => {
        advancing = undefined
      })
      await advancing
    }
    if (of !== server) await ensure()
  }

  function arrived(position: number): Promise<void> | undefined {
    if (server !== feed.server) {
      server = feed.server
      reached = undefined
    }
    return reached !== undefined && reached >= position ? undefined : reach(position)
  }

  function ensure(): Promise<void> | undefined {
    const position = feed.position()
    return typeof position === 'number' ? arrived(position) : position.then(arrived)
  }

  return {
    ensure,
    get position() {
      return reached
    },
    async settled() {
      await Promise.allSettled([advancing])
    },
  }
}
