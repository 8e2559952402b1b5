/**
 * Lets work take turns of the event loop. Whatever the requests of one turn do, each being small, they hold up
 * everybody together: so whoever is about to do something asks whether the turn is used up, and waits for a later one
 * where it is. Those who wait go on in order of arrival, as many in a turn as there is time for.
 */

interface Turns {
  /** Resolves in a later turn: for work in slices. */
  next(): Promise<void>
  /** `undefined` where this turn has time left; otherwise as `next`. */
  free(): Promise<void> | undefined
}

interface TurnsOptions {
  /** Runs its argument in the next turn of the loop, after those given before. */
  schedule(run: () => void): unknown
  /** Milliseconds of a monotonic clock. */
  ticks(): number
}

/** Others wait no longer for a turn than this and its last piece of work. */
const turnMilliseconds = 10

export function createTurns({ schedule, ticks }: TurnsOptions): Turns {
  const waiting = new Set<() => void>()
  let since: number | undefined

  function forget(): void {
    since = undefined
  }

  function isUsedUp(): boolean {
    if (since !== undefined) return ticks() - since > turnMilliseconds
    since = ticks()
    schedule(forget)
    return false
  }

  function run(): void {
    if (isUsedUp()) {
      schedule(run)
      return
    }
    // There is one for every `run`.
    for (const go of waiting) {
      waiting.delete(go)
      go()
      return
    }
  }

  function next(): Promise<void> {
    return new Promise((resolve) => {
      waiting.add(resolve)
      schedule(run)
    })
  }

  return { next, free: () => (isUsedUp() ? next() : undefined) }
}
