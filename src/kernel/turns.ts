/**
 * Lets work take turns of the event loop. Whatever the requests of one turn do, each being small, they hold up
 * everybody together: so whoever is about to do something asks whether the turn is used up, and waits for a later one
 * where it is. As many go on in a turn as there is time for: first whoever has taken the least time since they wait, and
 * of one owner in order of arrival. So whoever asks for much waits for themselves.
 */

interface Turns {
  /** Resolves in a later turn: for work in slices. Without an owner it is nobody's in particular. */
  next(owner?: string): Promise<void>
  /** `undefined` where this turn has time left; otherwise as `next`. */
  free(owner?: string): Promise<void> | undefined
}

interface TurnsOptions {
  /** Runs its argument in the next turn of the loop, after those given before. */
  schedule(run: () => void): unknown
  /** Milliseconds of a monotonic clock. */
  ticks(): number
}

/** Owners beyond share a line: each who waits is compared with all, and whoever has no token may name any number of owners. */
const ownersMax = 256
/** Others wait no longer for a turn than this and its last piece of work. */
const turnMilliseconds = 10

interface Queue {
  readonly waiting: (() => void)[]
  /** The time that its owner has taken of turns since it waits. */
  taken: number
}

export function createTurns({ schedule, ticks }: TurnsOptions): Turns {
  const queues = new Map<string, Queue>()
  let since: number | undefined
  /** Who went on last, until their time is known. */
  let running: { readonly queue: Queue; readonly at: number } | undefined

  function forget(): void {
    since = undefined
  }

  function isUsedUp(): boolean {
    const now = ticks()
    if (running !== undefined) {
      running.queue.taken += now - running.at
      running = undefined
    }
    if (since !== undefined) return now - since > turnMilliseconds
    since = now
    schedule(forget)
    return false
  }

  function first(): readonly [owner: string, queue: Queue] | undefined {
    let found: readonly [string, Queue] | undefined
    for (const each of queues)
      if (found === undefined || each[1].taken < found[1].taken) found = each
    return found
  }

  /** Scheduled once for each who waits. */
  function run(): void {
    if (isUsedUp()) {
      schedule(run)
      return
    }
    const [owner, queue] = first() ?? []
    if (owner === undefined || queue === undefined) return
    const go = queue.waiting.shift()
    if (queue.waiting.length === 0) queues.delete(owner)
    running = { queue, at: ticks() }
    go?.()
  }

  function next(owner = ''): Promise<void> {
    return new Promise((resolve) => {
      const line = queues.has(owner) || queues.size < ownersMax ? owner : ''
      const queue = queues.get(line)
      if (queue !== undefined) queue.waiting.push(resolve)
      else queues.set(line, { waiting: [resolve], taken: first()?.[1].taken ?? 0 })
      schedule(run)
    })
  }

  return { next, free: (owner) => (isUsedUp() ? next(owner) : undefined) }
}
