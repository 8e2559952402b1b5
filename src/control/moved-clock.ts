/**
 * A clock that can be stopped, set, advanced and made faster, with timers that follow it. All waits begin here, so
 * a wait of an hour ends when the clock is advanced by one. It reads only the machine's clock and knows nothing of
 * what waits.
 */

import type { Clock, Timers } from '#kernel/ports.ts'

/** Shorter waits are pauses before work that follows at once. They also pass on a stopped clock. */
const breathMilliseconds = 50
/** The number of stops in one move. Work that comes due between two stops is done at the second. */
const stopsMax = 240
/** Waits that are longer than the machine's timers allow are split. */
const machineWaitMax = 2_147_000_000
/** How long a move waits at a stop for the work that came due. Slower work goes on while the clock moves. */
const settleMilliseconds = 2_000

export const rateMax = 1_000_000
/** Moments outside these years have another text form. */
const momentEnd = Date.UTC(9000, 0)

export interface ClockState {
  /** The current time, in milliseconds since 1970. */
  readonly at: number
  /** Seconds that pass per second of the machine; 0 while stopped. */
  readonly rate: number
}

export function isMoment(at: unknown): at is number {
  return typeof at === 'number' && at >= 0 && at < momentEnd
}

export function isRate(rate: unknown): rate is number {
  return typeof rate === 'number' && rate >= 0 && rate <= rateMax
}

export interface MovedClock extends Clock {
  readonly timers: Timers
  state(): ClockState
  /** Sets how fast time passes; 0 stops it. */
  setRate(rate: number): void
  /**
   * Advances the clock. Work that comes due on the way runs at its own moment: the move stops there until the work
   * is quiet. Moves run one after another.
   */
  advance(milliseconds: number): Promise<void>
  /**
   * Sets the clock. Forward it works like `advance`. Backward it changes at once, and timers wait as long as
   * before.
   */
  set(at: number): Promise<void>
  /** Runs work beside which the clock is not moved: before a move, or after it. */
  betweenMoves<T>(work: () => Promise<T>): Promise<T>
  /**
   * Changes the time at once and runs nothing on the way. Timers wait as long as before. Only for work between moves:
   * a move would go on from where it was.
   */
  restore(state: ClockState): void
  /** Registers how a move learns that the work that came due is quiet. */
  onSettle(isQuiet: () => Promise<void>): void
}

interface Waiting {
  due: number
  readonly callback: () => unknown
}

/** Waits for the work that was begun and then for `isQuiet`, but no longer than a move may wait. */
async function settle(
  timers: Timers,
  begun: readonly unknown[],
  isQuiet: () => Promise<void>,
): Promise<void> {
  let tooLong: { cancel(): void } | undefined
  const quiet = Promise.allSettled(begun).then(isQuiet)
  const late = new Promise<void>((resolve) => {
    tooLong = timers.after(settleMilliseconds, resolve)
  })
  await Promise.race([quiet, late])
  tooLong?.cancel()
}

export function createMovedClock(machine: { clock: Clock; timers: Timers }): MovedClock {
  const waiting = new Set<Waiting>()
  let base = { machine: machine.clock.now(), at: machine.clock.now(), rate: 1 }
  let timer: { cancel(): void } | undefined
  let moves: Promise<void> = Promise.resolve()
  /** During a move, only the move decides what is due. */
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

  /** Ends the waits that are due, the earliest first, and returns what they started. */
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

  const advance = async (milliseconds: number): Promise<void> => {
    const begin = now()
    rebase(begin)
    isMoving = true
    timer?.cancel()
    try {
      const end = begin + milliseconds
      const stride = Math.ceil(milliseconds / stopsMax)
      // Work already under way does not know of the new time; it ends at its own moment.
      await settle(machine.timers, [], settled)
      for (let at = begin; at < end; ) {
        at = Math.min(end, Math.max(nextDue(), at + stride))
        rebase(at)
        await settle(machine.timers, endDue(), settled)
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

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = moves.then(work)
    moves = done.then(
      () => undefined,
      () => undefined,
    )
    return done
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
            // A timer of the machine that nobody waits for would keep a closed installation's process alive.
            if (waiting.delete(one) && waiting.size === 0) watch()
          },
        }
      },
    },
    state: () => ({ at: now(), rate: base.rate }),
    setRate(rate) {
      rebase(now(), rate)
      watch()
    },
    advance: (milliseconds) => inTurn(() => advance(milliseconds)),
    set: (at) =>
      inTurn(async () => {
        const before = now()
        if (at >= before) return advance(at - before)
        jump(at, base.rate)
      }),
    betweenMoves: inTurn,
    restore: ({ at, rate }) => jump(at, rate),
    onSettle(isQuiet) {
      settled = isQuiet
    },
  }
}
