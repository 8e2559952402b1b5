/**
 * Follows the engine's events and wakes the reconciler, so that changes show within seconds without polling. Events
 * are hints: after every connection all groups are checked once.
 */

import type { ContainerEngine, EngineEvent } from '#engines/containers/engine.ts'
import type { Clock, Log, Timers } from '#kernel/ports.ts'
import { attemptBackground } from '../engine-failure.ts'
import type { GroupIndex } from './group-index.ts'
import type { ProbeBoard } from './probes.ts'

const reconnectMs = 2000
/** An unknown group may be another replica's newest, or an orphan, so it does not cause a read each time. */
const refreshMs = 5000
/** Containers whose ends are kept, of all groups. Beyond, the group with most of them forgets its oldest. */
const endsKeptMax = 2000

interface End {
  readonly at: number
  readonly exitCode: number
}

/** The exit codes that the engine reported, by group and container: the only way to learn those of earlier runs. */
export class KnownEnds {
  readonly #ends = new Map<string, Map<string, readonly End[]>>()
  #size = 0

  note(group: string, part: string, at: number, exitCode: number): void {
    const own = this.#ends.get(group) ?? new Map<string, readonly End[]>()
    this.#ends.set(group, own)
    const known = own.get(part)
    // A cluster tells of the same end with each change of the Pod.
    if (known?.some((end) => end.at === at)) return
    if (known === undefined) this.#size++
    own.delete(part)
    own.set(part, [...(known ?? []), { at, exitCode }].slice(-3))
    if (this.#size > endsKeptMax) this.#forgetOne()
  }

  /** The exit code of the run that ended at about that time; an engine uses two clocks that differ a little. */
  exitCodeAt(group: string, part: string, finishedAt: number): number | undefined {
    const near = (this.#ends.get(group)?.get(part) ?? []).filter(
      ({ at }) => Math.abs(at - finishedAt) < 2000,
    )
    return near.at(-1)?.exitCode
  }

  #forgetOne(): void {
    let most: readonly [string, Map<string, readonly End[]>] = ['', new Map()]
    for (const one of this.#ends) if (one[1].size > most[1].size) most = one
    const [group, own] = most
    const [oldest = ''] = own.keys()
    if (own.delete(oldest)) this.#size--
    if (own.size === 0) this.#ends.delete(group)
  }
}

interface FollowDependencies {
  readonly engine: ContainerEngine
  readonly index: GroupIndex
  readonly ends: KnownEnds
  readonly probes: Pick<ProbeBoard, 'end'>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}

/** Runs until `signal` fires. `wake` gets the keys of resources. */
export async function followEngineEvents(
  deps: FollowDependencies,
  wake: (key: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let refreshedAt = Number.NEGATIVE_INFINITY
  const take = async (event: EngineEvent): Promise<void> => {
    if (event.kind === 'ready') {
      await deps.index.refresh()
      for (const key of deps.index.keys()) wake(key)
      return
    }
    if (event.exitCode !== undefined && event.part !== undefined) {
      deps.ends.note(event.group, event.part, event.at, event.exitCode)
    }
    if (event.part !== undefined && (event.what === 'died' || event.what === 'removed')) {
      deps.probes.end(event.group, event.part, event.at)
    }
    if (deps.index.get(event.group) === undefined) {
      if (deps.clock.now() - refreshedAt < refreshMs) return
      refreshedAt = deps.clock.now()
      await deps.index.refresh()
    }
    const key = deps.index.get(event.group)
    if (key !== undefined) wake(key)
  }
  while (!signal.aborted) {
    const failure = await attemptBackground(async () => {
      for await (const event of deps.engine.events(signal)) await take(event)
    })
    if (signal.aborted) return
    const reason = failure ?? 'the engine ended the events'
    deps.log.warn({ reason }, 'the events of the container engine are asked for again')
    await pause(deps.timers, reconnectMs, signal)
  }
}

function pause(timers: Timers, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = timers.after(milliseconds, resolve)
    signal.addEventListener(
      'abort',
      () => {
        timer.cancel()
        resolve()
      },
      { once: true },
    )
  })
}
