/**
 * Turns of what may hold a connection for long: reads that scan, and writes that may wait for rows of others. They wait in
 * memory, before a connection is taken, so that whoever holds one never waits for a turn.
 */

import { createRoom, type Leave, type Room } from '#kernel/room.ts'
import { awaitedSignal } from '../awaited.ts'

export class Turns {
  readonly #scans: Room
  readonly #writes: Room
  readonly #together: Room

  constructor(connections: number) {
    const half = atLeastOne(connections / 2)
    this.#scans = createRoom({ perOwnerMax: half, sumMax: half })
    this.#writes = createRoom({ perOwnerMax: atLeastOne(connections / 3), sumMax: half })
    // So both kinds together leave something to those that wait for nobody.
    const most = atLeastOne((connections * 3) / 4)
    this.#together = createRoom({ perOwnerMax: most, sumMax: most })
  }

  scan(): Leave | Promise<Leave> {
    return this.#enter(this.#scans, 'scans')
  }

  writeOf(owner: string): Leave | Promise<Leave> {
    return this.#enter(this.#writes, owner)
  }

  #enter(own: Room, owner: string): Leave | Promise<Leave> {
    const entered = own.enter(owner, 1, awaitedSignal)
    return entered instanceof Promise
      ? entered.then((leave) => this.#enterTogether(leave))
      : this.#enterTogether(entered)
  }

  #enterTogether(leaveOwn: Leave): Leave | Promise<Leave> {
    const entered = this.#together.enter('all', 1, awaitedSignal)
    const both =
      (leave: Leave): Leave =>
      () => {
        leave()
        leaveOwn()
      }
    if (!(entered instanceof Promise)) return both(entered)
    return entered.then(both, (error: unknown) => {
      leaveOwn()
      throw error
    })
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
