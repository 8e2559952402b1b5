/**
 * How much of something is in memory at once, of one principal and in sum: bytes of large request bodies, large answers.
 * What finds no room waits until others have left; nothing is refused. Knows no requests.
 */

interface RoomSizes {
  readonly perPrincipalMax: number
  readonly sumMax: number
}

export interface Room {
  /** Resolves with what gives the room back, when there is room for so much. */
  enter(principalId: string, amount: number): (() => void) | Promise<() => void>
  /** How many wait, and how much has room. */
  state(): { readonly waiting: number; readonly taken: number }
}

interface Waiting {
  readonly principalId: string
  readonly amount: number
  admit(leave: () => void): void
}

export function createRoom({ perPrincipalMax, sumMax }: RoomSizes): Room {
  const byPrincipal = new Map<string, number>()
  const queue = new Set<Waiting>()
  let sum = 0

  function fits(principalId: string, amount: number): boolean {
    const own = byPrincipal.get(principalId) ?? 0
    return sum + amount <= sumMax && own + amount <= perPrincipalMax
  }

  function take(principalId: string, amount: number): () => void {
    sum += amount
    byPrincipal.set(principalId, (byPrincipal.get(principalId) ?? 0) + amount)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      sum -= amount
      const left = (byPrincipal.get(principalId) ?? 0) - amount
      if (left > 0) byPrincipal.set(principalId, left)
      else byPrincipal.delete(principalId)
      admitNext()
    }
  }

  /** In the order they came, past those whose principal has no room. */
  function admitNext(): void {
    for (const one of queue) {
      if (sum >= sumMax) return
      if (!fits(one.principalId, one.amount)) continue
      queue.delete(one)
      one.admit(take(one.principalId, one.amount))
    }
  }

  return {
    enter(principalId, given) {
      // One that is larger than all of the room has it alone.
      const amount = Math.min(given, perPrincipalMax, sumMax)
      if (fits(principalId, amount)) return take(principalId, amount)
      return new Promise((admit) => queue.add({ principalId, amount, admit }))
    },
    state: () => ({ waiting: queue.size, taken: sum }),
  }
}
