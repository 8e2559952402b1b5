/**
 * Bounds how much of something exists at once, per owner and in total: bytes of a principal's large bodies, or
 * repositories fetched for a resource group. Work that finds no room waits until other work ends; nothing is
 * refused.
 */

interface RoomSizes {
  readonly perOwnerMax: number
  readonly sumMax: number
}

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
  enter(ownerId: string, amount: number, awaited?: Awaited): Leave | Promise<Leave>
  /** How many wait, and how much is taken. */
  state(): { readonly waiting: number; readonly taken: number }
}

interface Waiting {
  readonly ownerId: string
  readonly amount: number
  admit(leave: Leave): void
}

/** Runs the work when there is room for one, and frees the room at its end. */
export async function inRoom<T>(
  room: Room,
  ownerId: string,
  work: () => T | Promise<T>,
): Promise<T> {
  const leave = await room.enter(ownerId, 1)
  try {
    return await work()
  } finally {
    leave()
  }
}

export function createRoom({ perOwnerMax, sumMax }: RoomSizes): Room {
  const byOwner = new Map<string, number>()
  const queue = new Set<Waiting>()
  let sum = 0

  function fits(ownerId: string, amount: number): boolean {
    const own = byOwner.get(ownerId) ?? 0
    return sum + amount <= sumMax && own + amount <= perOwnerMax
  }

  function take(ownerId: string, amount: number): Leave {
    sum += amount
    byOwner.set(ownerId, (byOwner.get(ownerId) ?? 0) + amount)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      sum -= amount
      const left = (byOwner.get(ownerId) ?? 0) - amount
      if (left > 0) byOwner.set(ownerId, left)
      else byOwner.delete(ownerId)
      admitNext()
    }
  }

  /** Admits in order of arrival, but skips owners that have no room left. */
  function admitNext(): void {
    for (const one of queue) {
      if (sum >= sumMax) return
      if (!fits(one.ownerId, one.amount)) continue
      queue.delete(one)
      one.admit(take(one.ownerId, one.amount))
    }
  }

  return {
    enter(ownerId, given, awaited) {
      // An amount larger than the limit takes all of the room.
      const amount = Math.min(given, perOwnerMax, sumMax)
      if (fits(ownerId, amount)) return take(ownerId, amount)
      return new Promise((admit, reject) => {
        const signal = awaited?.()
        signal?.throwIfAborted()
        const giveUp = (): void => {
          queue.delete(one)
          reject(signal?.reason)
        }
        const one: Waiting = {
          ownerId,
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
