/**
 * How many bytes of large request bodies are in memory at once, of one principal and in sum. A body for which there is
 * no room waits, unread, until others have been answered; nothing is refused. Small bodies need no room: requests at
 * once are bounded already. Knows no requests.
 */

interface BodyRoomLimits {
  readonly bodyBytesAtOncePerPrincipalMax: number
  readonly bodyBytesAtOnceMax: number
}

export interface BodyRoom {
  /** Resolves with what gives the room back, when there is room for so many bytes; at once for a small body. */
  enter(principalId: string, bytes: number): (() => void) | Promise<() => void>
  /** Bodies that wait, and bytes that have room. */
  state(): { readonly waiting: number; readonly bytes: number }
}

/** Bytes of a body that needs no room. */
export const smallBodyBytes = 64 * 1024

interface Waiting {
  readonly principalId: string
  readonly bytes: number
  admit(leave: () => void): void
}

const nothing = (): void => {}

export function createBodyRoom(limits: BodyRoomLimits): BodyRoom {
  const { bodyBytesAtOncePerPrincipalMax: ownMax, bodyBytesAtOnceMax: sumMax } = limits
  const byPrincipal = new Map<string, number>()
  const queue = new Set<Waiting>()
  let sum = 0

  function fits(principalId: string, bytes: number): boolean {
    return sum + bytes <= sumMax && (byPrincipal.get(principalId) ?? 0) + bytes <= ownMax
  }

  function take(principalId: string, bytes: number): () => void {
    sum += bytes
    byPrincipal.set(principalId, (byPrincipal.get(principalId) ?? 0) + bytes)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      sum -= bytes
      const left = (byPrincipal.get(principalId) ?? 0) - bytes
      if (left > 0) byPrincipal.set(principalId, left)
      else byPrincipal.delete(principalId)
      admitNext()
    }
  }

  /** In the order they came, past those whose principal has no room. */
  function admitNext(): void {
    for (const one of queue) {
      if (sum >= sumMax) return
      if (!fits(one.principalId, one.bytes)) continue
      queue.delete(one)
      one.admit(take(one.principalId, one.bytes))
    }
  }

  return {
    enter(principalId, given) {
      if (given <= smallBodyBytes) return nothing
      // One that is larger than all of the room has it alone.
      const bytes = Math.min(given, ownMax, sumMax)
      if (fits(principalId, bytes)) return take(principalId, bytes)
      return new Promise((admit) => queue.add({ principalId, bytes, admit }))
    },
    state: () => ({ waiting: queue.size, bytes: sum }),
  }
}
