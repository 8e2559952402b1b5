/**
 * Processes for servers that are kept apart: one for each key, a few at a time, and each ends with its last call. No owner has
 * all of them: with many servers that hold up whoever looks at them, others would wait. Whoever finds no place waits for one, and
 * not for long.
 */

import type { Ending, LooksProcess, SentCall } from './looks-process.ts'

const placesMax = 6
const ofOwnerMax = 3
/** Beyond so many in all, an owner has one. */
const sharedMax = 5
const waitingMilliseconds = 20_000

interface Place {
  /** Who was the first to want it. */
  readonly owner: string
  readonly process: LooksProcess
  users: number
}

interface Waiting {
  readonly key: string
  readonly owner: string
  /** Without a place after a while, or at the end of all. */
  end(place?: Place): void
}

export class Places implements AsyncDisposable {
  readonly #start: (key: string) => LooksProcess
  readonly #places = new Map<string, Place>()
  readonly #waiting = new Set<Waiting>()

  constructor(start: (key: string) => LooksProcess) {
    this.#start = start
  }

  /** `lost` without a process where no place became free. */
  async call(key: string, sent: SentCall): Promise<Ending> {
    const place = this.#enter(key, sent.owner) ?? (await this.#wait(key, sent.owner))
    if (place === undefined) return { kind: 'lost' }
    const ending = await place.process.call(sent)
    this.#leave(key, place)
    return ending
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { end } of this.#waiting) end()
    const places = [...this.#places.values()]
    await Promise.all(places.map(({ process }) => process[Symbol.asyncDispose]()))
  }

  #enter(key: string, owner: string): Place | undefined {
    const there = this.#places.get(key)
    if (there?.process.isThere === true) {
      there.users++
      return there
    }
    if (there === undefined && !this.#hasRoom(owner)) return undefined
    const place = { owner, process: this.#start(key), users: 1 }
    this.#places.set(key, place)
    return place
  }

  #hasRoom(owner: string): boolean {
    const { size } = this.#places
    const own = this.#countOf(owner)
    return size < placesMax && own < ofOwnerMax && (own === 0 || size < sharedMax)
  }

  #countOf(owner: string): number {
    return [...this.#places.values()].filter((place) => place.owner === owner).length
  }

  #leave(key: string, place: Place): void {
    if (--place.users > 0) return
    place.process.end()
    if (this.#places.get(key) !== place) return
    this.#places.delete(key)
    this.#admit()
  }

  /** Owners with the fewest places first, and of equals whoever waits longest. */
  #admit(): void {
    const counted = [...this.#waiting].map((one) => ({ one, own: this.#countOf(one.owner) }))
    for (const { one } of counted.sort((left, right) => left.own - right.own)) {
      const place = this.#enter(one.key, one.owner)
      if (place !== undefined) one.end(place)
    }
  }

  #wait(key: string, owner: string): Promise<Place | undefined> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        key,
        owner,
        end: (place) => {
          clearTimeout(timer)
          this.#waiting.delete(waiting)
          resolve(place)
        },
      }
      const timer = setTimeout(() => waiting.end(), waitingMilliseconds)
      this.#waiting.add(waiting)
    })
  }
}
