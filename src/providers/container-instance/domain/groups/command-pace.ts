/**
 * When commands of probes and of callers may begin in containers. An engine starts programs of its own for each, outside
 * of the limits of the container, and Podman keeps one of them for five minutes (decision 0393).
 */

import type { ContainerEngine } from '#engines/containers/engine.ts'
import { createRoom } from '#kernel/room.ts'

/** Commands that begin within a second: in a resource group, everywhere, and of these where none does. */
const commands = { perOwnerMax: 3, sumMax: 6, spare: 2 }

/** It rests by what the machine spends, so no moved clock changes it. */
const machineAfter = (milliseconds: number, callback: () => void): unknown =>
  setTimeout(callback, milliseconds).unref()

export class CommandPace {
  readonly #room = createRoom(commands)
  readonly #engine: Pick<ContainerEngine, 'describe'>
  readonly #after: typeof machineAfter

  constructor(engine: Pick<ContainerEngine, 'describe'>, after = machineAfter) {
    this.#engine = engine
    this.#after = after
  }

  /**
   * Resolves when a command may begin in a resource group: at once where nothing really runs. Rejects when nobody
   * waits for it any more.
   */
  async turn(resourceGroup: string, signal?: AbortSignal): Promise<void> {
    const [described] = await Promise.allSettled([this.#engine.describe()])
    if (described.status === 'fulfilled' && !described.value.runsPrograms) return
    const leave = await this.#room.enter(resourceGroup, 1, () => signal)
    this.#after(1000, leave)
  }
}
