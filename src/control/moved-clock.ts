/**
 * A clock that can be stopped, set, advanced and made faster, and the timers that go by it. Waits for the passage of
 * time begin here, so a wait of an hour ends when the clock is advanced by one. Reads the machine's clock and nothing
 * else of the world; knows nothing of what waits.
 */

import type { Clock, Timers } from '#kernel/ports.ts'

/** Shorter waits are a pause for breath, such as before a look that follows at once. They pass on a stopped clock too. */
const breathMilliseconds = 50
/** Stops that one move makes at the most; what comes due between two of them is done at the second. */
const stopsMax = 240
/** Longer waits than the machine's timers can hold are waited for in parts. */
const machineWaitMax = 2_147_000_000
/** How long a stop of a move waits for work that came due. What takes longer goes on while the clock moves. */
const settleMilliseconds = 2_000

export const rateMax = 1_000_000

export interface ClockState {
  /** Now, in milliseconds since 1970. */
  readonly at: number
  /** Seconds that pass in one of the machine's; 0 while stopped. */
  readonly rate: number
}

export interface MovedClock extends Clock {
  readonly timers: Timers
  state(): ClockState
  /** How fast time passes; 0 stops it. */
  setRate(rate: number): void
  /**
   * Lets so much time pass. What comes due on the way is done on the way, at its moment: the move stops there until that
   * work is quiet. Moves follow one another.
   */
  advance(milliseconds: number): Promise<void>
  /** Forward as `advance`; backward at once, and whoever waits waits as long as before. */
  set(at: number): Promise<void>
  /** Another time at once, with nothing on the way: whoever waits waits as long as before. */
  restore(state: ClockState): void
  /** Tells a move when work that came due is quiet. */
  onSettle(isQuiet: () => Promise<void>): void
}

interface Waiting {
  due: number
  readonly callback: () => unknown
}

export function createMovedClock(machine: { clock: Clock; timers: Timers }): MovedClock {
  const waiting = new Set<Waiting>()
  let base = { machine: machine.clock.now(), at: machine.clock.now(), rate: 1 }
  let timer: { cancel(): void } | undefined
  let moves: Promise<void> = Promise.resolve()
  /** While a move is under way it alone decides what is due. */
  let isMoving = false
  let settled: () => Promise<void> = async () => undefined

  const now = (): number =>
    Math.floor(base.at + (machine.clock.now() - base.machine) * (isMoving ? 0 : base.rate))

  const rebase = (at: number, rate = base.rate): void => {
    base = { machine: machine.clock.now(), at, rate }
  }

  const nextDue = (): number => {
    let due = Number.POSITIVE_INFINITY
    for (const one of waiting) due = Math.min(due, one.due)
    return due
  }

  /** Ends what is due, the earliest first; what it has begun. */
  const endDue = (): readonly unknown[] => {
    const at = now()
    const due = [...waiting].filter((one) => one.due <= at).sort((a, b) => a.due - b.due)
    for (const one of due) waiting.delete(one)
    return due.map((one) => one.callback())
  }

  const watch = (): void => {
    timer?.cancel()
    timer = undefined
    if (isMoving || base.rate === 0 || waiting.size === 0) return
    const wait = Math.ceil((nextDue() - now()) / base.rate)
    timer = machine.timers.after(Math.min(machineWaitMax, Math.max(0, wait)), () => {
      endDue()
      watch()
    })
  }

  const settle = async (begun: readonly unknown[]): Promise<void> => {
    let tooLong: { cancel(): void } | undefined
    const quiet = Promise.allSettled(begun).then(() => settled())
    const late = new Promise<void>((resolve) => {
      tooLong = machine.timers.after(settleMilliseconds, resolve)
    })
    await Promise.race([quiet, late])
    tooLong?.cancel()
  }

  const advance = async (milliseconds: number): Promise<void> => {
    const begin = now()
    rebase(begin)
    isMoving = true
    timer?.cancel()
    try {
      const end = begin + milliseconds
      const stride = Math.ceil(milliseconds / stopsMax)
      // What is under way knows no more than it did: it ends at its own moment.
      await settle([])
      for (let at = begin; at < end; ) {
        at = Math.min(end, Math.max(nextDue(), at + stride))
        rebase(at)
        await settle(endDue())
      }
    } finally {
      isMoving = false
      rebase(base.at)
      watch()
    }
  }

  const jump = (at: number, rate: number): void => {
    const by = at - now()
    rebase(at, rate)
    for (const one of waiting) one.due += by
    watch()
  }

  const move = (work: () => Promise<void>): Promise<void> => {
    const moved = moves.then(work)
    moves = moved.then(
      () => undefined,
      () => undefined,
    )
    return moved
  }

  return {
    now,
    timers: {
      after(milliseconds, callback) {
        if (milliseconds <= breathMilliseconds) return machine.timers.after(milliseconds, callback)
        const one = { due: now() + milliseconds, callback }
        waiting.add(one)
        if (one.due <= nextDue()) watch()
        return {
          cancel() {
            waiting.delete(one)
          },
        }
      },
    },
    state: () => ({ at: now(), rate: base.rate }),
    setRate(rate) {
      rebase(now(), rate)
      watch()
    },
    advance: (milliseconds) => move(() => advance(milliseconds)),
    set: (at) =>
      move(async () => {
        const before = now()
        if (at >= before) return advance(at - before)
        jump(at, base.rate)
      }),
    restore: ({ at, rate }) => jump(at, rate),
    onSettle(isQuiet) {
      settled = isQuiet
    },
  }
}
