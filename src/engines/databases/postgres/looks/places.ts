/**
 * Processes for servers that are kept apart: one for each key, a few at a time, and each ends with its last call. Whoever
 * finds no place waits for one, and not for long.
 */

import type { Ending, LooksProcess, SentCall } from './looks-process.ts'

const placesMax = 6
const waitingMilliseconds = 20_000

interface Place {
  readonly process: LooksProcess
  users: number
}

export class Places implements AsyncDisposable {
  readonly #start: (key: string) => LooksProcess
  readonly #places = new Map<string, Place>()
  readonly #waiting = new Set<(isFree: boolean) => void>()

  constructor(start: (key: string) => LooksProcess) {
    this.#start = start
  }

  /** `lost` without a process where no place became free. */
  async call(key: string, sent: SentCall): Promise<Ending> {
    const place = await this.#enter(key)
    if (place === undefined) return { kind: 'lost' }
    const ending = await place.process.call(sent)
    this.#leave(key, place)
    return ending
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const wake of this.#waiting) wake(false)
    const places = [...this.#places.values()]
    await Promise.all(places.map(({ process }) => process[Symbol.asyncDispose]()))
  }

  async #enter(key: string): Promise<Place | undefined> {
    do {
      const there = this.#places.get(key)
      if (there?.process.isThere === true) {
        there.users++
        return there
      }
      if (there !== undefined || this.#places.size < placesMax) {
        const place = { process: this.#start(key), users: 1 }
        this.#places.set(key, place)
        return place
      }
    } while (await this.#free())
    return undefined
  }

  #leave(key: string, place: Place): void {
    if (--place.users > 0) return
    place.process.end()
    if (this.#places.get(key) !== place) return
    this.#places.delete(key)
    const [next] = this.#waiting
    next?.(true)
  }

  /** False after a while, or at the end of all. */
  #free(): Promise<boolean> {
    return new Promise((resolve) => {
      const wake = (isFree: boolean): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve(isFree)
      }
      const timer = setTimeout(() => wake(false), waitingMilliseconds)
      this.#waiting.add(wake)
    })
  }
}
