/**
 * How many groups an engine makes, starts, restarts or removes at once. It is one for everybody and works through what it gets as fast as its
 * machine can: whoever asks for all of many groups at once leaves others waiting until all is done.
 */

import type { StepEngine } from '#engines/containers/perform-step.ts'
import type { Timers } from '#kernel/ports.ts'
import { createGroupRoom, type Leave } from '#kernel/room.ts'
import { StepFailure } from '#plane/declare/reconciled.ts'
import { closing, whileWanted } from './pulls.ts'

/** The last places are for resource groups without a step there, and half of them for such subscriptions. */
const places = { perOwnerMax: 3, sumMax: 12, spare: 6 }
/** What takes longer mostly waits for a program that holds its container: its place is another's from then on. */
const placeMilliseconds = 60_000

export class EnginePlaces {
  readonly #timers: Timers
  readonly #engine: StepEngine
  readonly #room = createGroupRoom(places)
  readonly #closed = new AbortController()

  constructor(engine: StepEngine, timers: Timers) {
    this.#engine = engine
    this.#timers = timers
  }

  /** Gives up what waits, and begins nothing more. */
  close(): void {
    this.#closed.abort(new Error(closing))
  }

  /**
   * The engine for a step of a resource group. Pulls have places of their own, and a stop waits for programs. Throws `StepFailure` for a step that
   * is not wanted any more before it has a place, and after `close`.
   */
  for(resourceGroup: string, isWanted: () => Promise<boolean>): StepEngine {
    const engine = this.#engine
    const placed = (work: () => Promise<void>): Promise<void> =>
      this.#run(resourceGroup, isWanted, work)
    return {
      pull: (...given) => engine.pull(...given),
      stop: (...given) => engine.stop(...given),
      create: (...given) => placed(() => engine.create(...given)),
      start: (...given) => placed(() => engine.start(...given)),
      restart: (...given) => placed(() => engine.restart(...given)),
      remove: (...given) => placed(() => engine.remove(...given)),
    }
  }

  async #run(
    owner: string,
    isWanted: () => Promise<boolean>,
    work: () => Promise<void>,
  ): Promise<void> {
    const enter = async (signal: AbortSignal): Promise<Leave> => {
      const gone = AbortSignal.any([signal, this.#closed.signal])
      const leave = await this.#room.enter(owner, 1, () => gone)
      if (!gone.aborted) return leave
      leave()
      throw gone.reason
    }
    const [entered] = await Promise.allSettled([whileWanted(this.#timers, isWanted, enter)])
    if (entered.status === 'rejected') {
      throw new StepFailure('later', 'ContainerEngineBusy', entered.reason.message)
    }
    const leave = entered.value
    const late = this.#timers.after(placeMilliseconds, leave)
    try {
      await work()
    } finally {
      late.cancel()
      leave()
    }
  }
}
