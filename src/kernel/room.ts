/**
 * Bounds how much of something exists at once, per owner and in total: bytes of a principal's large bodies, or
 * repositories fetched for a resource group. Work that finds no room waits until other work ends; nothing is
 * refused.
 */

interface RoomSizes {
  readonly perOwnerMax: number
  readonly sumMax: number
}

export interface Room {
  /** Resolves when there is room for the amount, with a function that frees it. */
  enter(ownerId: string, amount: number): (() => void) | Promise<() => void>
  /** How many wait, and how much is taken. */
  state(): { readonly waiting: number; readonly taken: number }
}

interface Waiting {
  readonly ownerId: string
  readonly amount: number
  admit(leave: () => void): void
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

  function take(ownerId: string, amount: number): () => void {
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
    enter(ownerId, given) {
      // An amount larger than the limit takes all of the room.
      const amount = Math.min(given, perOwnerMax, sumMax)
      if (fits(ownerId, amount)) return take(ownerId, amount)
      return new Promise((admit) => queue.add({ ownerId, amount, admit }))
    },
    state: () => ({ waiting: queue.size, taken: sum }),
  }
}
