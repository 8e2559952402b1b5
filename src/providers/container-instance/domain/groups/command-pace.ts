/**
 * When commands of probes and of callers may begin in containers. An engine starts programs of its own for each, outside
 * of the limits of the container, and Podman keeps one of them for five minutes (decision 0393).
 */

import type { ContainerEngine } from '#engines/containers/engine.ts'
import { createGroupRoom } from '#kernel/room.ts'

/** Commands that begin within a second: in a resource group, everywhere, and of these where none does (half of them in another subscription). */
const commands = { perOwnerMax: 3, sumMax: 6, spare: 2 }

/** By the machine's time, which no moved clock changes. */
function machineAfter(milliseconds: number, callback: () => void): { cancel(): void } {
  const timer = setTimeout(callback, milliseconds).unref()
  return { cancel: () => clearTimeout(timer) }
}

export class CommandPace {
  readonly #room = createGroupRoom(commands)
  readonly #closed = new AbortController()
  readonly #engine: Pick<ContainerEngine, 'describe'>
  /** For what ends by the machine's time. */
  readonly after: typeof machineAfter

  constructor(engine: Pick<ContainerEngine, 'describe'>, after = machineAfter) {
    this.#engine = engine
    this.after = after
  }

  /** From now on what ends commands has its turn at once: the process waits for it only for a while. */
  close(): void {
    this.#closed.abort()
  }

  /**
   * Resolves when a command may begin in a resource group: at once where nothing really runs. Rejects when nobody
   * waits for it any more. What ends a command is always wanted, and has no signal.
   */
  async turn(resourceGroup: string, signal?: AbortSignal): Promise<void> {
    const [described] = await Promise.allSettled([this.#engine.describe()])
    if (described.status === 'fulfilled' && !described.value.runsPrograms) return
    signal?.throwIfAborted()
    const until = signal ?? this.#closed.signal
    const [entered] = await Promise.allSettled([this.#room.enter(resourceGroup, 1, () => until)])
    if (entered.status === 'fulfilled') this.after(1000, entered.value)
    else if (until === signal) throw entered.reason
  }
}
