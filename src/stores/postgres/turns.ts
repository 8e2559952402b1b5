/**
 * Turns of what takes a connection in a caller's name: reads that scan, writes that may wait for rows of others, and the
 * many short reads of one request. They wait in memory, before a connection is taken, so that whoever holds one never waits
 * for a turn. Whoever has fewest turns goes first, and some are left to whoever has none (decisions 0267 and 0269).
 */

import { createRoom, enterAll, type Leave, type Room } from '#kernel/room.ts'
import { awaitedSignal, callOwner, isUnknown } from '../awaited.ts'

type Entered = Leave | Promise<Leave>

export class Turns {
  readonly #scans: Room
  readonly #owned: Room
  readonly #together: Room
  readonly #reads: Room
  readonly #unknown: Room

  constructor(connections: number) {
    const third = atLeastOne(connections / 3)
    const half = atLeastOne(connections / 2)
    // Where there is one turn alone, it is for whoever comes.
    const one = Math.min(1, half - 1)
    this.#scans = createRoom({ perOwnerMax: half, sumMax: half, spare: one })
    this.#owned = createRoom({ perOwnerMax: third, sumMax: half, spare: one })
    // So all that takes long leaves something to what does not.
    const most = atLeastOne((connections * 3) / 4)
    this.#together = createRoom({ perOwnerMax: half, sumMax: most, spare: most - half })
    this.#reads = createRoom({ perOwnerMax: third, sumMax: half, spare: one })
    // Of those nobody knows yet there may be any number, each under a name of its own.
    this.#unknown = createRoom({ perOwnerMax: third, sumMax: third })
  }

  scan(): Entered {
    return this.#enterWith(this.#scans, callOwner() ?? '')
  }

  /** Of a transaction that waits for rows of others with the same owners. */
  writeOf(owners: string | readonly string[]): Entered {
    return this.#enterWith(this.#owned, owners)
  }

  /** Of any other transaction. What nobody in particular asked for waits for nobody. */
  write(): Entered | undefined {
    const owner = callOwner()
    return owner === undefined ? undefined : this.#enter(this.#together, owner)
  }

  /** Of a read of its own. What nobody in particular asked for waits for nobody: it may be for everybody. */
  read(): Entered | undefined {
    const owner = callOwner()
    return owner === undefined ? undefined : this.#enter(this.#reads, owner)
  }

  #enter(room: Room, owners: string): Entered {
    if (!isUnknown(owners)) return room.enter(owners, 1, awaitedSignal)
    return enterAll(
      [
        { room, owners },
        { room: this.#unknown, owners },
      ],
      awaitedSignal,
    )
  }

  /** Both at once: whoever held a turn of the one while waiting for the other would keep it from those who could go on. */
  #enterWith(room: Room, owners: string | readonly string[]): Entered {
    const together = { room: this.#together, owners: callOwner() ?? '' }
    return enterAll([{ room, owners }, together], awaitedSignal)
  }
}

/** Runs the work in its turn. `ready` is awaited first where it had to wait. */
export async function inTurn<T>(
  entered: Leave | Promise<Leave>,
  work: () => Promise<T>,
  ready?: () => Promise<unknown>,
): Promise<T> {
  const hasWaited = entered instanceof Promise
  const leave = hasWaited ? await entered : entered
  try {
    if (hasWaited) await ready?.()
    return await work()
  } finally {
    leave()
  }
}

function atLeastOne(connections: number): number {
  return Math.max(1, Math.floor(connections))
}
