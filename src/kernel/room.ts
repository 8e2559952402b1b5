/**
 * Bounds how much of something exists at once, per owner and in total: bytes of a principal's large bodies, or
 * repositories fetched for a resource group. Work that finds no room waits until other work ends; nothing is
 * refused. Whoever has least is admitted first; of these whoever came or left longest ago, and of one owner in order of arrival: so
 * an owner who comes new waits for nobody's queue, and who stays short for none that stay long. Work may have several owners, such as who wants it and whose rows it is about: it waits for room of each.
 * Work may need room of several kinds: it takes all at once, and holds none while it waits.
 */

import { subscriptionKey } from './resource-id.ts'

interface RoomSizes {
  readonly perOwnerMax: number
  readonly sumMax: number
  /** Of the sum, what only owners who have nothing may take. */
  readonly spare?: number
}

/** The names of whom work is counted for. */
type Owners = string | readonly string[]

/** Frees what was taken. Further calls do nothing. */
export type Leave = () => void

/** Gives a signal that is aborted when nobody waits for the work any more. */
export type Awaited = () => Signal | undefined

/** What is needed of an `AbortSignal`. */
interface Signal {
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface Room {
  /**
   * Resolves when there is room for the amount, with a function that frees it. `awaited` is asked only where there is
   * no room: when its signal is aborted, the caller waits no longer, and the promise rejects with the signal's reason.
   * Whoever finds room has it at once, also for one who is gone: a signal costs more than a short read (decision 0267).
   */
  enter(owners: Owners, amount: number, awaited?: Awaited): Leave | Promise<Leave>
  /** What `enter` takes. */
  placesOf(owners: Owners, amount: number): readonly Place[]
  /** How many wait, and how much is taken. */
  state(): { readonly waiting: number; readonly taken: number }
}

/** What work needs of one room. */
interface Need {
  readonly room: Room
  readonly owners: Owners
}

interface Place {
  readonly room: CountedRoom
  readonly owners: Owners
  readonly amount: number
}

interface Waiting {
  readonly places: readonly Place[]
  /** The same for those who need the same for the same owners: while the first of them finds no room, none does. */
  readonly key: string
  readonly arrived: number
  admit(leave: Leave): void
}

let rooms = 0
let arrivals = 0

/** Owners whose last turn is remembered. Beyond, all are as if they came new. */
const rememberedMax = 10_000

/**
 * Runs the work when there is room for one, and frees the room at its end, or earlier if it wants. Rejects where nobody waits for
 * the work any more before it begins.
 */
export async function inRoom<T>(
  room: Room,
  owners: Owners,
  work: (leave: Leave) => T | Promise<T>,
  awaited?: Awaited,
): Promise<T> {
  const leave = await room.enter(owners, 1, awaited)
  try {
    awaited?.()?.throwIfAborted()
    return await work(leave)
  } finally {
    leave()
  }
}

export function createRoom(sizes: RoomSizes): Room {
  return new CountedRoom(sizes)
}

/**
 * For owners that are resource groups, by their keys, of which a subscription has any number: of the spare places, half are for
 * subscriptions that have nothing.
 */
export function createGroupRoom(sizes: Required<RoomSizes>): Room {
  const { sumMax, spare } = sizes
  const groups = new CountedRoom(sizes)
  const subscriptions = new CountedRoom({
    ...{ perOwnerMax: sumMax, sumMax, spare: Math.ceil(spare / 2) },
  })
  const placesOf = (owners: Owners, amount: number): readonly Place[] => {
    const above = listOf(owners).map(subscriptionKey)
    return [...groups.placesOf(owners, amount), ...subscriptions.placesOf(above, amount)]
  }
  return {
    enter: (owners, amount, awaited) => enter(placesOf(owners, amount), awaited),
    placesOf,
    state: () => groups.state(),
  }
}

/** Resolves when there is room for one in each, as `Room.enter` does. */
export function enterAll(needs: readonly Need[], awaited?: Awaited): Leave | Promise<Leave> {
  return enter(
    needs.flatMap(({ room, owners }) => room.placesOf(owners, 1)),
    awaited,
  )
}

class CountedRoom implements Room {
  readonly #sizes: RoomSizes
  readonly number = ++rooms
  readonly #byOwner = new Map<string, number>()
  /** By key. */
  readonly #queue = new Map<string, Set<Waiting>>()
  #waiting = 0
  /** By owner, since nobody waited: when they came or left last. */
  readonly #lastTurns = new Map<string, number>()
  #turns = 0
  #sum = 0

  constructor(sizes: RoomSizes) {
    this.#sizes = sizes
  }

  enter(owners: Owners, amount: number, awaited?: Awaited): Leave | Promise<Leave> {
    return enter(this.placesOf(owners, amount), awaited)
  }

  placesOf(owners: Owners, given: number): readonly Place[] {
    // An amount larger than the limit takes all of the room.
    const amount = Math.min(given, this.#sizes.perOwnerMax, this.#sizes.sumMax)
    return [{ room: this, owners, amount }]
  }

  state(): { readonly waiting: number; readonly taken: number } {
    return { waiting: this.#waiting, taken: this.#sum }
  }

  fits({ owners, amount }: Place): boolean {
    const { perOwnerMax, sumMax, spare = 0 } = this.#sizes
    const own = this.taken(owners)
    const most = own === 0 ? sumMax : sumMax - spare
    return this.#sum + amount <= most && own + amount <= perOwnerMax
  }

  /** By whoever has most of these owners. */
  taken(owners: Owners): number {
    return mostOf(this.#byOwner, owners)
  }

  lastTurn(owners: Owners): number {
    return mostOf(this.#lastTurns, owners)
  }

  take({ owners, amount }: Place): void {
    this.#add(owners, amount)
  }

  free({ owners, amount }: Place): void {
    this.#add(owners, -amount)
  }

  add(one: Waiting): void {
    this.#waiting++
    const alike = this.#queue.get(one.key)
    if (alike === undefined) this.#queue.set(one.key, new Set([one]))
    else alike.add(one)
  }

  remove(one: Waiting): void {
    const alike = this.#queue.get(one.key)
    if (alike?.delete(one) !== true) return
    this.#waiting--
    if (alike.size === 0) this.#queue.delete(one.key)
  }

  admitNext(): void {
    for (let one = this.#next(); one !== undefined; one = this.#next()) {
      for (const { room } of one.places) room.remove(one)
      one.admit(takeAll(one.places))
    }
    if (this.#queue.size === 0 || this.#lastTurns.size > rememberedMax) this.#lastTurns.clear()
  }

  /** Skips owners that have no room left. */
  #next(): Waiting | undefined {
    if (this.#sum >= this.#sizes.sumMax) return undefined
    let found: { readonly one: Waiting; readonly rank: Rank } | undefined
    for (const [one] of this.#queue.values()) {
      if (!one?.places.every((place) => place.room.fits(place))) continue
      const rank = rankOf(one)
      if (found === undefined || isBefore(rank, found.rank)) found = { one, rank }
    }
    return found?.one
  }

  #add(owners: Owners, amount: number): void {
    this.#sum += amount
    this.#turns++
    for (const owner of listOf(owners)) {
      this.#lastTurns.set(owner, this.#turns)
      const own = (this.#byOwner.get(owner) ?? 0) + amount
      if (own > 0) this.#byOwner.set(owner, own)
      else this.#byOwner.delete(owner)
    }
  }
}

/** The most that an owner has, the sum, the same of last turns, and the arrival: who shares one owner differs in the others. */
type Rank = readonly number[]

function rankOf({ places, arrived }: Waiting): Rank {
  let [most, sum, latest, turns] = [0, 0, 0, 0]
  for (const { room, owners } of places) {
    const own = room.taken(owners)
    const last = room.lastTurn(owners)
    most = Math.max(most, own)
    sum += own
    latest = Math.max(latest, last)
    turns += last
  }
  return [most, sum, latest, turns, arrived]
}

function isBefore(one: Rank, other: Rank): boolean {
  const at = one.findIndex((value, index) => value !== other[index])
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0)
}

function listOf(owners: Owners): readonly string[] {
  return typeof owners === 'string' ? [owners] : owners
}

function mostOf(values: ReadonlyMap<string, number>, owners: Owners): number {
  if (typeof owners === 'string') return values.get(owners) ?? 0
  return owners.reduce((most, owner) => Math.max(most, values.get(owner) ?? 0), 0)
}

function takeAll(places: readonly Place[]): Leave {
  for (const place of places) place.room.take(place)
  let isTaken = true
  return () => {
    if (!isTaken) return
    isTaken = false
    for (const place of places) place.room.free(place)
    for (const { room } of places) room.admitNext()
  }
}

function enter(places: readonly Place[], awaited?: Awaited): Leave | Promise<Leave> {
  if (places.every((place) => place.room.fits(place))) return takeAll(places)
  return new Promise((resolve, reject) => {
    const signal = awaited?.()
    signal?.throwIfAborted()
    const giveUp = (): void => {
      signal?.removeEventListener('abort', giveUp)
      for (const { room } of places) room.remove(one)
      reject(signal?.reason)
    }
    const one: Waiting = {
      places,
      key: JSON.stringify(places.map(({ room, owners, amount }) => [room.number, owners, amount])),
      arrived: ++arrivals,
      admit(leave) {
        signal?.removeEventListener('abort', giveUp)
        resolve(leave)
      },
    }
    signal?.addEventListener('abort', giveUp)
    for (const { room } of places) room.add(one)
  })
}
