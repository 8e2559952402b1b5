/**
 * Lets work take turns of the event loop. Whatever the requests of one turn do, each being small, they hold up
 * everybody together: so whoever is about to do something asks whether the turn is used up, and waits for a later one
 * where it is. As many go on in a turn as there is time for: first whoever has taken the least time since they wait, and
 * of one owner in order of arrival. So whoever asks for much waits for themselves. One of four is whoever has waited
 * longest: so nobody waits four times as long as in one line for all.
 */

interface Turns {
  /** Resolves in a later turn: for work in slices. Without an owner it is nobody's in particular. */
  next(owner?: string): Promise<void>
  /** `undefined` where this turn has time left; otherwise as `next`. */
  free(owner?: string): Promise<void> | undefined
  /** As `free`, for whoever is not known yet: they have the first part of a turn. */
  freeUnknown(owner: string): Promise<void> | undefined
  /** A connection was accepted: as long as each turn brings one, turns are short. */
  connected(): void
}

interface TurnsOptions {
  /** Runs its argument in the next turn of the loop, after those given before. */
  schedule(run: () => void): unknown
  /** Milliseconds of a monotonic clock. */
  ticks(): number
}

/** Owners beyond share a line: each who waits is compared with all, and whoever has no token may come under many names. */
const ownersMax = 256
/** Others wait no longer for a turn than this and its last piece of work. */
const turnMilliseconds = 10
/** What those who are not known have of it. */
const unknownMilliseconds = 2
/**
 * The same while connections come. The runtime accepts one in each turn of the loop, and does not say how many wait: behind
 * 500 that reconnect again and again, a new one waits for as many turns.
 */
const shortMilliseconds = 1
const shortUnknownMilliseconds = 0.5
/** Turns end in the middle of a turn of the loop, so the next one may bring a connection late. */
const shortTurns = 2
/**
 * One of so many goes on because it has waited longest. New owners begin at the least time taken, so without this as
 * many of them as come would go before whoever has been here for long.
 */
const oldestOneOf = 4
/** As many as this go on in a turn at most. Each is scheduled again in a turn that is used up. */
const scheduledMax = 256

interface Waiting {
  /** Counts all who ever waited. */
  readonly number: number
  readonly go: () => void
  next: Waiting | undefined
}

interface Line {
  head: Waiting
  tail: Waiting
  /** The time that its owner has taken of turns since it waits. */
  taken: number
  readonly isKnown: boolean
}

type Lines = Map<string, Line>

export function createTurns({ schedule, ticks }: TurnsOptions): Turns {
  const lines: Lines = new Map()
  let since: number | undefined
  let elapsed = 0
  /** Found of this turn, so that no more of it goes into looks at the clock. */
  let isOver = false
  let shortLeft = 0
  /** Who went on last, until their time is known. */
  let running: { readonly line: Line; readonly at: number } | undefined
  let waited = 0
  let waiting = 0
  let scheduled = 0
  let gone = 0

  function forget(): void {
    since = undefined
    isOver = false
    if (shortLeft > 0) shortLeft--
  }

  function isOverForUnknown(): boolean {
    return elapsed > (shortLeft > 0 ? shortUnknownMilliseconds : unknownMilliseconds)
  }

  function isUsedUp(): boolean {
    if (isOver) return true
    const now = ticks()
    if (running !== undefined) {
      running.line.taken += now - running.at
      running = undefined
    }
    if (since === undefined) {
      since = now
      schedule(forget)
    }
    elapsed = now - since
    isOver = elapsed > (shortLeft > 0 ? shortMilliseconds : turnMilliseconds)
    return isOver
  }

  /** Scheduled as often as somebody waits, up to a number: what one does is measured before the next goes on. */
  function run(): void {
    if (isUsedUp()) {
      schedule(run)
      return
    }
    const needsKnown = isOverForUnknown()
    const isOldest = (gone + 1) % oldestOneOf === 0
    const found = isOldest ? oldestOf(lines, needsKnown) : leastOf(lines, needsKnown)
    if (found === undefined && waiting > 0) {
      isOver = true
      schedule(run)
      return
    }
    gone++
    if (found !== undefined) waiting--
    if (waiting >= scheduled) schedule(run)
    else scheduled--
    if (found === undefined) return
    const [owner, line] = found
    const { go, next } = line.head
    if (next === undefined) lines.delete(owner)
    else line.head = next
    running = { line, at: ticks() }
    go()
  }

  function next(owner = '', isKnown = true): Promise<void> {
    return new Promise((go) => {
      const one: Waiting = { number: waited++, go, next: undefined }
      const name = lines.has(owner) || lines.size < ownersMax ? owner : ''
      const line = lines.get(name)
      if (line === undefined) {
        const taken = leastOf(lines, false)?.[1].taken ?? 0
        lines.set(name, { head: one, tail: one, taken, isKnown: isKnown || name !== owner })
      } else {
        line.tail.next = one
        line.tail = one
      }
      waiting++
      if (scheduled === scheduledMax) return
      scheduled++
      schedule(run)
    })
  }

  return {
    next: (owner) => next(owner),
    free: (owner) => (isUsedUp() ? next(owner) : undefined),
    freeUnknown: (owner) => (isUsedUp() || isOverForUnknown() ? next(owner, false) : undefined),
    connected() {
      shortLeft = shortTurns
    },
  }
}

type Found = readonly [owner: string, line: Line] | undefined

function leastOf(lines: Lines, needsKnown: boolean): Found {
  let found: Found
  for (const each of lines) {
    if (needsKnown && !each[1].isKnown) continue
    if (found === undefined || each[1].taken < found[1].taken) found = each
  }
  return found
}

function oldestOf(lines: Lines, needsKnown: boolean): Found {
  let found: Found
  for (const each of lines) {
    if (needsKnown && !each[1].isKnown) continue
    if (found === undefined || each[1].head.number < found[1].head.number) found = each
  }
  return found
}
