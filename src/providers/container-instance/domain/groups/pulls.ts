/**
 * Pulls of images, which take as long as a registry likes. They have few places of this process, of which one resource
 * group gets a part, and a subscription, so that other background work goes on. A pull ends when its container group wants something else.
 */

import type { Timers } from '#kernel/ports.ts'
import { createGroupRoom, type Leave } from '#kernel/room.ts'
import { StepFailure } from '#plane/declare/reconciled.ts'

/** The last places are for groups and subscriptions without a pull, so that a few do not take them all. */
const places = { perOwnerMax: 6, sumMax: 16, spare: 4 }
/** How long one waits for a place. It holds up other work meanwhile. */
const waitMilliseconds = 1000
const lookMilliseconds = 2000
const closing = 'the server is closing'

interface Pull {
  /** What shares places: a resource group. */
  readonly owner: string
  /** The longest time. */
  readonly seconds: number
  /** Asked now and then, while it is pulled. */
  isWanted(): Promise<boolean>
  run(signal: AbortSignal): Promise<void>
}

export class Pulls {
  readonly #timers: Timers
  readonly #room = createGroupRoom(places)
  readonly #closed = new AbortController()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Throws `StepFailure` when no place is free, and after `close`. */
  async pull({ owner, seconds, isWanted, run }: Pull): Promise<void> {
    const leave = await this.#enter(owner)
    const tooLong = new AbortController()
    const late = this.#timers.after(seconds * 1000, () => {
      tooLong.abort(new Error(`it took ${seconds} seconds`))
    })
    try {
      const others = [tooLong.signal, this.#closed.signal]
      await whileWanted(this.#timers, isWanted, (signal) =>
        run(AbortSignal.any([signal, ...others])),
      )
    } finally {
      late.cancel()
      leave()
    }
  }

  /** Ends all pulls. */
  close(): void {
    this.#closed.abort(new Error(closing))
  }

  async #enter(owner: string): Promise<Leave> {
    const tooLong = new AbortController()
    const late = this.#timers.after(waitMilliseconds, () => tooLong.abort())
    const signal = AbortSignal.any([tooLong.signal, this.#closed.signal])
    const [entered] = await Promise.allSettled([this.#room.enter(owner, 1, () => signal)])
    late.cancel()
    const isClosed = this.#closed.signal.aborted
    if (entered.status === 'fulfilled') {
      if (!isClosed) return entered.value
      entered.value()
    }
    const reason = isClosed ? closing : 'other images are pulled first'
    throw new StepFailure('later', 'ContainerEngineBusy', reason)
  }
}

/** The signal of the work is aborted when it is not wanted any more. */
export async function whileWanted<T>(
  timers: Timers,
  isWanted: () => Promise<boolean>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController()
  let isOver = false
  const look = async (): Promise<void> => {
    const [wanted] = await Promise.allSettled([isWanted()])
    // A store that does not answer says nothing about the group.
    if (isOver) return
    if (wanted.status === 'rejected' || wanted.value) {
      looking = timers.after(lookMilliseconds, look)
    } else ended.abort(new Error('it is not wanted any more'))
  }
  let looking = timers.after(lookMilliseconds, look)
  try {
    return await work(ended.signal)
  } finally {
    isOver = true
    looking.cancel()
  }
}
