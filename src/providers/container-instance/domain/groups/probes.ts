/**
 * Runs liveness and readiness probes where the engine does not, and wakes the reconciler only when a verdict
 * changes: a probe that succeeds costs no write. It restarts nothing itself. What it knows is lost with the
 * process, and found out anew.
 */

import type { ContainerEngine, ProbeSchedule } from '#engines/containers/engine.ts'
import type { Clock, Timers } from '#kernel/ports.ts'
import { createGroupRoom, inRoom, type Leave } from '#kernel/room.ts'
import { attempt } from '../engine-failure.ts'
import type { CommandPace } from './command-pace.ts'
import { resyncSeconds } from './next-step.ts'
import type { ProbeVerdict } from './observation.ts'

export interface PlannedProbe {
  readonly part: string
  readonly kind: 'liveness' | 'readiness'
  readonly schedule: ProbeSchedule
  /** The probed run; a new run is probed from the start. */
  readonly startedAt: number
}

interface Running {
  readonly plan: PlannedProbe
  timer: { cancel(): void } | undefined
  ended: boolean
  /** Aborted at its end: what waits for a place or a turn waits no longer. */
  readonly end: AbortController
  failures: number
  successes: number
}

interface Watched {
  /** What shares places: a resource group. */
  readonly owner: string
  readonly probes: Map<string, Running>
  readonly verdicts: Map<string, ProbeVerdict>
  /** Ends them where no observation of this process names them again. */
  expiry: { cancel(): void } | undefined
}

/** Of those that have just begun. One resource group gets a part of the places, and so does a subscription. */
const places = { perOwnerMax: 8, sumMax: 32, spare: 4 }
/** A probe takes as long as its container's writer likes. What takes longer mostly waits: its place is another's from then on. */
const placeMilliseconds = 5000
/** Another replica may have changed or deleted the group: plans that no observation here has confirmed for so long end. */
const unconfirmedMilliseconds = 2 * resyncSeconds * 1000

export class ProbeBoard {
  readonly #engine: ContainerEngine
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #wake: (group: string) => void
  readonly #groups = new Map<string, Watched>()
  /** By kind: those by HTTP wait for no commands. */
  readonly #places = { exec: createGroupRoom(places), http: createGroupRoom(places) }
  readonly #pace: CommandPace
  #closed = false

  constructor(parts: {
    readonly engine: ContainerEngine
    readonly clock: Clock
    readonly timers: Timers
    readonly pace: CommandPace
    /** Called when a verdict on a group has changed. */
    readonly wake: (group: string) => void
  }) {
    this.#engine = parts.engine
    this.#clock = parts.clock
    this.#timers = parts.timers
    this.#pace = parts.pace
    this.#wake = parts.wake
  }

  /** Exactly these probes run for the group from now on; running ones continue. */
  watch(group: string, owner: string, plans: readonly PlannedProbe[]): void {
    if (this.#closed) return
    const known = this.#groups.get(group)
    if (known === undefined && plans.length === 0) return
    const watched = known ?? watchedOf(owner)
    const wanted = new Map(plans.map((plan) => [keyOf(plan), plan]))
    for (const [key, running] of watched.probes) {
      if (wanted.has(key)) continue
      stop(running)
      watched.probes.delete(key)
    }
    for (const part of watched.verdicts.keys()) {
      if (!plans.some((plan) => plan.part === part)) watched.verdicts.delete(part)
    }
    watched.expiry?.cancel()
    if (wanted.size === 0) {
      this.#groups.delete(group)
      return
    }
    this.#groups.set(group, watched)
    watched.expiry = this.#timers.after(unconfirmedMilliseconds, () => {
      this.watch(group, owner, [])
    })
    for (const [key, plan] of wanted) {
      if (watched.probes.has(key)) continue
      const end = new AbortController()
      const running = { plan, timer: undefined, ended: false, end, failures: 0, successes: 0 }
      watched.probes.set(key, running)
      const first = plan.startedAt + plan.schedule.initialDelaySeconds * 1000 - this.#clock.now()
      this.#after(group, watched, running, Math.max(0, first))
    }
  }

  /** What began before has ended, whoever works on the group: a command is not run in the next container of that name. */
  end(group: string, part: string, at: number): void {
    const watched = this.#groups.get(group)
    for (const [key, running] of watched?.probes ?? []) {
      if (running.plan.part !== part || running.plan.startedAt >= at) continue
      stop(running)
      watched?.probes.delete(key)
    }
  }

  verdict(group: string, part: string): ProbeVerdict | undefined {
    return this.#groups.get(group)?.verdicts.get(part)
  }

  close(): void {
    this.#closed = true
    for (const { probes, expiry } of this.#groups.values()) {
      expiry?.cancel()
      for (const one of probes.values()) stop(one)
    }
    this.#groups.clear()
  }

  #after(group: string, watched: Watched, running: Running, milliseconds: number): void {
    running.timer = this.#timers.after(milliseconds, () => {
      void this.#try(group, watched, running)
    })
  }

  async #try(group: string, watched: Watched, running: Running): Promise<void> {
    const { part, schedule } = running.plan
    const { probe: planned, timeoutSeconds } = schedule
    const turn = () => this.#pace.turn(watched.owner)
    const probe = planned.kind === 'exec' ? { ...planned, turn } : planned
    const { signal } = running.end
    const tryInPlace = async (leave: Leave) => {
      if (probe.kind === 'exec') await this.#pace.turn(watched.owner, signal)
      signal.throwIfAborted()
      const late = this.#pace.after(placeMilliseconds, leave)
      try {
        return await attempt(() => this.#engine.probe(group, part, probe, timeoutSeconds))
      } finally {
        late.cancel()
      }
    }
    const room = this.#places[probe.kind]
    const [ended] = await Promise.allSettled([
      inRoom(room, watched.owner, tryInPlace, () => signal),
    ])
    if (running.ended) return
    if (ended.status === 'rejected') throw ended.reason
    const tried = ended.value
    // An engine that cannot try says nothing about the container.
    if (tried.ok) {
      const { healthy, message } = tried.value
      running.failures = healthy ? 0 : running.failures + 1
      running.successes = healthy ? running.successes + 1 : 0
      if (this.#judge(watched, running, message)) this.#wake(group)
    } else if (tried.kind === 'absent') {
      // Deleted by another replica, or made anew: whoever observes what is there then probes that.
      this.watch(group, watched.owner, [])
    }
    if (!running.ended) this.#after(group, watched, running, schedule.periodSeconds * 1000)
  }

  /** True when the verdict changed. */
  #judge(watched: Watched, running: Running, message: string): boolean {
    const { part, kind, schedule, startedAt } = running.plan
    const known = watched.verdicts.get(part)
    const verdict: ProbeVerdict = known?.startedAt === startedAt ? known : { startedAt }
    if (kind === 'liveness') {
      if (running.failures < schedule.failureThreshold) return false
      // This run has its verdict; the next one gets a probe of its own.
      stop(running)
      watched.verdicts.set(part, { ...verdict, failedLiveness: message })
      return true
    }
    const ready =
      running.successes >= schedule.successThreshold
        ? true
        : running.failures >= schedule.failureThreshold
          ? false
          : undefined
    if (ready === undefined || ready === verdict.ready) return false
    const { failedReadiness: _, ...rest } = verdict
    watched.verdicts.set(part, {
      ...rest,
      ready,
      ...(ready ? {} : { failedReadiness: message }),
    })
    return true
  }
}

function watchedOf(owner: string): Watched {
  return { owner, probes: new Map(), verdicts: new Map(), expiry: undefined }
}

function keyOf({ part, kind, startedAt, schedule }: PlannedProbe): string {
  return JSON.stringify([part, kind, startedAt, schedule])
}

function stop(running: Running): void {
  running.ended = true
  running.timer?.cancel()
  running.end.abort()
}
