/**
 * Bodies that have one of the few places for large ones. Whoever sends slowly keeps the place for as long as nobody else
 * waits for one.
 */

import type { Room } from '#kernel/room.ts'

/** The rate below which a body counts as slow, and the time in which it may be. */
const bytesPerSecondMin = 1024 * 1024
const graceMilliseconds = 5_000

interface LargeBody {
  readonly since: number
  /** Bytes since then. */
  received(): number
  end(): void
}

export interface LargeBodies {
  /** For a body that got its place; `end` ends it. Returns a function that stops watching. */
  follow(body: Pick<LargeBody, 'received' | 'end'>): () => void
  /** Ends slow bodies while others wait. */
  sweep(): void
}

export function createLargeBodies(room: Pick<Room, 'state'>, now: () => number): LargeBodies {
  const all = new Set<LargeBody>()
  return {
    follow({ received, end }) {
      const body = { since: now(), received, end }
      all.add(body)
      return () => all.delete(body)
    },
    sweep() {
      if (room.state().waiting === 0) return
      for (const body of all) {
        const milliseconds = now() - body.since
        const wanted = (milliseconds / 1000) * bytesPerSecondMin
        if (milliseconds >= graceMilliseconds && body.received() < wanted) body.end()
      }
    },
  }
}
