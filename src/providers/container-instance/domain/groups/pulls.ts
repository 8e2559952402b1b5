/**
 * Pulls of images, which take as long as a registry likes. They have few places of this process, of which one resource
 * group gets a part, so that other background work goes on. A pull ends when its container group wants something else.
 */

import type { Timers } from '#kernel/ports.ts'
import { StepFailure } from '#plane/declare/reconciled.ts'

const placesMax = 16
const placesOfGroupMax = 6
/** Places that only groups without a pull may take, so that a few groups do not take them all. */
const placesOfNewcomers = 4
/** How long one waits for a place. It holds up other work meanwhile. */
const waitMilliseconds = 1000
const lookMilliseconds = 2000

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
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Set<() => void>()
  readonly #closed = new AbortController()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** Throws `StepFailure` when no place is free. */
  async pull({ owner, seconds, isWanted, run }: Pull): Promise<void> {
    await this.#take(owner)
    const ended = new AbortController()
    const end = (reason: string): void => ended.abort(new Error(reason))
    let isOver = false
    const look = async (): Promise<void> => {
      const [wanted] = await Promise.allSettled([isWanted()])
      // A store that does not answer says nothing about the group.
      if (isOver) return
      if (wanted.status === 'rejected' || wanted.value) {
        looking = this.#timers.after(lookMilliseconds, look)
      } else end('it is not wanted any more')
    }
    let looking = this.#timers.after(lookMilliseconds, look)
    const late = this.#timers.after(seconds * 1000, () => end(`it took ${seconds} seconds`))
    try {
      await run(AbortSignal.any([ended.signal, this.#closed.signal]))
    } finally {
      isOver = true
      looking.cancel()
      late.cancel()
      this.#give(owner)
    }
  }

  /** Ends all pulls. */
  close(): void {
    this.#closed.abort(new Error('the server is closing'))
    this.#wake()
  }

  async #take(owner: string): Promise<void> {
    let isLate = false
    const late = this.#timers.after(waitMilliseconds, () => {
      isLate = true
      this.#wake()
    })
    try {
      while (!this.#isFree(owner)) {
        if (isLate)
          throw new StepFailure('later', 'ContainerEngineBusy', 'other images are pulled first')
        await new Promise<void>((resolve) => this.#waiting.add(resolve))
      }
      this.#taken.set(owner, this.#takenBy(owner) + 1)
    } finally {
      late.cancel()
    }
  }

  #give(owner: string): void {
    const left = this.#takenBy(owner) - 1
    if (left === 0) this.#taken.delete(owner)
    else this.#taken.set(owner, left)
    this.#wake()
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }

  #isFree(owner: string): boolean {
    if (this.#closed.signal.aborted) return false
    let sum = 0
    for (const taken of this.#taken.values()) sum += taken
    const own = this.#takenBy(owner)
    if (own === 0) return sum < placesMax
    return own < placesOfGroupMax && sum < placesMax - placesOfNewcomers
  }

  #takenBy(owner: string): number {
    return this.#taken.get(owner) ?? 0
  }
}
