/**
 * How much of something there is at once, of one owner and in sum: bytes of large bodies of a principal, repositories
 * fetched for a resource group. What finds no room waits until others have left; nothing is refused.
 */

interface RoomSizes {
  readonly perOwnerMax: number
  readonly sumMax: number
}

export interface Room {
  /** Resolves with what gives the room back, when there is room for so much. */
  enter(ownerId: string, amount: number): (() => void) | Promise<() => void>
  /** How many wait, and how much has room. */
  state(): { readonly waiting: number; readonly taken: number }
}

interface Waiting {
  readonly ownerId: string
  readonly amount: number
  admit(leave: () => void): void
}

/** The work once there is room for one; the room is given back at its end. */
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

  /** In the order they came, past those whose owner has no room. */
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
      // One that is larger than all of the room has it alone.
      const amount = Math.min(given, perOwnerMax, sumMax)
      if (fits(ownerId, amount)) return take(ownerId, amount)
      return new Promise((admit) => queue.add({ ownerId, amount, admit }))
    },
    state: () => ({ waiting: queue.size, taken: sum }),
  }
}
