/** Which background work is of interest to which resource: the end of the one wakes the other. */

import type { PlaneServices } from '#plane/create-plane.ts'

/** Ten thousand waits are remembered; what is forgotten is seen at the next look. */
const awaitedMax = 10_000

interface Awaited {
  /** The settling of this resource is of interest to that one. */
  add(resourceKey: string, waitingKey: string): void
  watchEvents(wake: (key: string) => void, signal: AbortSignal): void
}

export function createAwaited(onSettled: PlaneServices['onSettled']): Awaited {
  const awaited = new Map<string, string>()
  return {
    add(resourceKey, waitingKey) {
      if (awaited.size < awaitedMax) awaited.set(resourceKey, waitingKey)
    },
    watchEvents(wake, signal) {
      onSettled((key) => {
        const waiting = awaited.get(key)
        if (waiting === undefined) return
        awaited.delete(key)
        wake(waiting)
      }, signal)
    },
  }
}
