/** Tracks which resources wait for which background work: the end of that work wakes each of them. */

import type { PlaneServices } from '#plane/create-plane.ts'

/**
 * The number of remembered waits of one waiter, and of all. What is not remembered is noticed at the next check.
 */
const ofOneMax = 2_000
const ofAllMax = 50_000

/** Sends a request that may start background work of this resource, for whose end the waiter wants to be woken. */
export type Awaiting = <T extends { readonly operation?: unknown }>(
  resourceKey: string,
  waitingKey: string,
  send: () => Promise<T>,
) => Promise<T>

interface Awaited {
  readonly awaiting: Awaiting
  /** The waiter has ended, and waits for nothing. */
  forget(waitingKey: string): void
  watchEvents(wake: (key: string) => void, signal: AbortSignal): void
}

export function createAwaited(onSettled: PlaneServices['onSettled']): Awaited {
  const waitingBy = new Map<string, Set<string>>()
  const awaitedBy = new Map<string, Set<string>>()
  let count = 0
  const add = (resourceKey: string, waitingKey: string): void => {
    const ofOne = awaitedBy.get(waitingKey)?.size ?? 0
    if (ofOne >= ofOneMax || count >= ofAllMax) return
    if (!insert(waitingBy, resourceKey, waitingKey)) return
    insert(awaitedBy, waitingKey, resourceKey)
    count++
  }
  const drop = (resourceKey: string, waitingKey: string): void => {
    if (!remove(waitingBy, resourceKey, waitingKey)) return
    remove(awaitedBy, waitingKey, resourceKey)
    count--
  }
  return {
    async awaiting(resourceKey, waitingKey, send) {
      // Added before it is sent: the work may have ended before its answer arrives.
      add(resourceKey, waitingKey)
      const answer = await send()
      if (answer.operation === undefined) drop(resourceKey, waitingKey)
      return answer
    },
    forget(waitingKey) {
      for (const resourceKey of [...(awaitedBy.get(waitingKey) ?? [])])
        drop(resourceKey, waitingKey)
    },
    watchEvents(wake, signal) {
      onSettled((key) => {
        for (const waitingKey of [...(waitingBy.get(key) ?? [])]) {
          drop(key, waitingKey)
          wake(waitingKey)
        }
      }, signal)
    },
  }
}

/** Returns whether it was missing. */
function insert(sets: Map<string, Set<string>>, key: string, member: string): boolean {
  const known = sets.get(key)
  if (known?.has(member) === true) return false
  if (known === undefined) sets.set(key, new Set([member]))
  else known.add(member)
  return true
}

/** Returns whether it was there. */
function remove(sets: Map<string, Set<string>>, key: string, member: string): boolean {
  const known = sets.get(key)
  if (known?.delete(member) !== true) return false
  if (known.size === 0) sets.delete(key)
  return true
}
