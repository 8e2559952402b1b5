/**
 * Background work: due steps of timelines, and probes of what the installation depends on. Every replica does both.
 * A step and its removal are one transaction, and a signal is raised once.
 */

import { ApiError } from '#kernel/error.ts'
import type { HealthSignal, HealthSignals } from '#kernel/health.ts'
import type { Clock, Log, Timers } from '#kernel/ports.ts'
import { type Rounds, startRounds } from '#kernel/rounds.ts'
import type { Sql } from '#stores/store.ts'
import type { EventStore } from './event-store.ts'
import { takeStep } from './lifecycle.ts'
import { type DueStep, nextStep } from './timeline.ts'

/** Something the installation depends on. `check` throws its adapter's error when it fails. */
export interface Probe extends Omit<HealthSignal, 'summary'> {
  check(): Promise<unknown>
}

interface BackgroundDependencies {
  readonly sql: Sql
  readonly eventStore: EventStore
  readonly signals: HealthSignals
  readonly probes: readonly Probe[]
  /** Checks the next resources; returns whether there are more. */
  watch(now: number): Promise<boolean>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Log
}

const lookMilliseconds = 2000
/** Between the end of a round through the resources and the next one. */
const roundMilliseconds = 10_000
const probeMilliseconds = 10_000
/** A single failure may be a glitch. */
const failuresBeforeRaising = 2

export function startBackground(deps: BackgroundDependencies): Rounds {
  let probedAt = Number.NEGATIVE_INFINITY
  let roundAt = Number.NEGATIVE_INFINITY
  const failures = new Map<string, number>()
  return startRounds(deps.timers, 0, async () => {
    const soon = await guarded(deps, () => takeDue(deps))
    const now = deps.clock.now()
    // A moment that lies far ahead was noted before the clock was set back.
    if (Math.abs(now - probedAt) >= probeMilliseconds) {
      probedAt = now
      for (const probe of deps.probes) {
        await guarded(deps, () => probeOnce(deps, probe, failures))
      }
    }
    if (now >= roundAt || roundAt - now > roundMilliseconds) {
      const isMore = await guarded(deps, () => deps.watch(now))
      if (isMore !== true) roundAt = now + roundMilliseconds
    }
    const wait = soon === undefined ? lookMilliseconds : Math.max(0, soon - deps.clock.now())
    return Math.min(wait, lookMilliseconds)
  })
}

/** Takes every due step, in order; returns when the next one is due. */
export async function takeDue(
  deps: Pick<BackgroundDependencies, 'sql' | 'eventStore' | 'clock' | 'log'>,
): Promise<number | undefined> {
  for (;;) {
    const due = await nextStep(deps.sql)
    if (due === undefined || due.dueAt > deps.clock.now()) return due?.dueAt
    await takeOne(deps, due)
  }
}

/** A refused step is logged and dropped: later steps may still make sense. */
async function takeOne(
  {
    sql,
    eventStore: ledger,
    clock,
    log,
  }: Pick<BackgroundDependencies, 'sql' | 'eventStore' | 'clock' | 'log'>,
  { id, trackingId, owner, by, step }: DueStep,
): Promise<void> {
  const drop = 'delete from health_steps where id = ?'
  try {
    await takeStep(ledger, { trackingId, owner, by, now: clock.now() }, step, async (tx) => {
      // Another replica took it at the same time: nothing of this is written.
      if ((await tx.run(drop, id)) === 0) throw new StepTaken()
    })
  } catch (error) {
    if (error instanceof StepTaken) return
    if (!(error instanceof ApiError)) throw error
    log.warn({ trackingId, step: step.name, reason: error.message }, 'a timeline’s step is dropped')
    await sql.transact(async (tx) => {
      await tx.run(drop, id)
    })
  }
}

class StepTaken extends Error {}

async function probeOnce(
  { signals }: BackgroundDependencies,
  { check, ...signal }: Probe,
  failures: Map<string, number>,
): Promise<void> {
  const reason = await failureOf(check)
  if (reason === undefined) {
    failures.delete(signal.key)
    await signals.clear(signal.key, `${signal.service} answers again.`)
    return
  }
  const count = (failures.get(signal.key) ?? 0) + 1
  failures.set(signal.key, count)
  if (count >= failuresBeforeRaising) await signals.raise({ ...signal, summary: reason })
}

async function failureOf(check: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    // A probe exists to find failures.
    return error instanceof Error ? error.message : String(error)
  }
}

/** Failures of the store are logged; the next round is soon. */
async function guarded<T>(
  { log }: BackgroundDependencies,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    log.warn({ error: String(error) }, 'service health waits')
    return undefined
  }
}
