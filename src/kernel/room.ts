/**
 * Bounds how much of something exists at once, per owner and in total: bytes of a principal's large bodies, or
 * repositories fetched for a resource group. Work that finds no room waits until other work ends; nothing is
 * refused. Whoever has least is admitted first; of these whoever was admitted longest ago, and of one owner in order of arrival: so
 * an owner who comes new waits for nobody's queue. Work may have several owners, such as who wants it and whose rows it is about: it waits for room of each.
 */

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
   */
  enter(owners: Owners, amount: number, awaited?: Awaited): Leave | Promise<Leave>
  /** How many wait, and how much is taken. */
  state(): { readonly waiting: number; readonly taken: number }
}

interface Waiting {
  readonly owners: Owners
  readonly amount: number
  admit(leave: Leave): void
}

/** Owners whose last admission is remembered. Beyond, all are as if they came new. */
const rememberedMax = 10_000

/** Runs the work when there is room for one, and frees the room at its end. */
export async function inRoom<T>(
  room: Room,
  owners: Owners,
  work: () => T | Promise<T>,
): Promise<T> {
  const leave = await room.enter(owners, 1)
  try {
    return await work()
  } finally {
    leave()
  }
}

export function createRoom({ perOwnerMax, sumMax, spare }: RoomSizes): Room {
  const byOwner = new Map<string, number>()
  const queue = new Set<Waiting>()
  /** By owner, since nobody waited: the number of the last admission. */
  const admitted = new Map<string, number>()
  let admissions = 0
  let sum = 0

  /** Of whoever has most of these owners. */
  function mostOf(values: ReadonlyMap<string, number>, owners: Owners): number {
    if (typeof owners === 'string') return values.get(owners) ?? 0
    return owners.reduce((most, owner) => Math.max(most, values.get(owner) ?? 0), 0)
  }

  function add(owners: Owners, amount: number): void {
    for (const owner of typeof owners === 'string' ? [owners] : owners) {
      const own = (byOwner.get(owner) ?? 0) + amount
      if (own > 0) byOwner.set(owner, own)
      else byOwner.delete(owner)
    }
  }

  function fits(owners: Owners, amount: number): boolean {
    const own = mostOf(byOwner, owners)
    const most = own === 0 ? sumMax : sumMax - (spare ?? 0)
    return sum + amount <= most && own + amount <= perOwnerMax
  }

  function take(owners: Owners, amount: number): Leave {
    sum += amount
    add(owners, amount)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      sum -= amount
      add(owners, -amount)
      admitNext()
    }
  }

  function note(owners: Owners): void {
    admissions++
    for (const owner of typeof owners === 'string' ? [owners] : owners) {
      admitted.set(owner, admissions)
    }
  }

  function admit(one: Waiting): void {
    queue.delete(one)
    note(one.owners)
    one.admit(take(one.owners, one.amount))
  }

  function admitNext(): void {
    for (let one = next(); one !== undefined; one = next()) admit(one)
    if (queue.size === 0 || admitted.size > rememberedMax) admitted.clear()
  }

  /** Skips owners that have no room left. */
  function next(): Waiting | undefined {
    if (sum >= sumMax) return undefined
    let found: { readonly one: Waiting; readonly own: number; readonly last: number } | undefined
    for (const one of queue) {
      if (!fits(one.owners, one.amount)) continue
      const own = mostOf(byOwner, one.owners)
      const last = mostOf(admitted, one.owners)
      if (own === 0 && last === 0) return one
      const isNext =
        found === undefined || own < found.own || (own === found.own && last < found.last)
      if (isNext) found = { one, own, last }
    }
    return found?.one
  }

  return {
    enter(owners, given, awaited) {
      // An amount larger than the limit takes all of the room.
      const amount = Math.min(given, perOwnerMax, sumMax)
      if (fits(owners, amount)) {
        note(owners)
        return take(owners, amount)
      }
      return new Promise((admit, reject) => {
        const signal = awaited?.()
        signal?.throwIfAborted()
        const giveUp = (): void => {
          queue.delete(one)
          reject(signal?.reason)
        }
        const one: Waiting = {
          owners,
          amount,
          admit(leave) {
            signal?.removeEventListener('abort', giveUp)
            admit(leave)
          },
        }
        signal?.addEventListener('abort', giveUp)
        queue.add(one)
      })
    },
    state: () => ({ waiting: queue.size, taken: sum }),
  }
}
