/**
 * The runs of one simulated container as a pure function of time: the last recorded run, advanced to now by its
 * script and restart policy. It needs no timer.
 */

import { backOff } from '#kernel/back-off.ts'
import type { ContainerState, Termination } from '../engine.ts'
import type { Script } from './script.ts'

export interface SimulatedRun {
  readonly script: Script
  readonly restart: 'always' | 'on-failure' | 'never'
  /** The start of the current or last run; undefined before the first. It is in the future during a back-off. */
  readonly startedAt?: number
  readonly restartCount: number
  /** The end of the current run, if it has ended. */
  readonly ended?: Termination
  readonly previous?: Termination
}

/** The delay before the n-th restart in a row: one second, doubling, a minute at most. Chosen, not measured. */
function backoffMs(restartCount: number): number {
  return backOff({ first: 1000, most: 60_000 }, restartCount)
}

/** After this many restarts the delay is constant, so that years of crashes are one division. */
const steadyRestarts = 6

/** The state of `run` at `now`. */
export function advance(run: SimulatedRun, now: number): SimulatedRun {
  let current = run
  while (current.startedAt !== undefined && current.ended === undefined) {
    const end = current.script.end
    if (end === undefined) return current
    const skipped = skip(current, end, now)
    const startedAt = skipped.startedAt ?? 0
    const finishedAt = startedAt + end.afterMs
    if (finishedAt > now) return skipped
    const next = endRun(skipped, end.exitCode, finishedAt)
    if (next === skipped) return next
    current = next
  }
  return current
}

/** Skips whole constant cycles, all but the last. */
function skip(
  run: SimulatedRun,
  end: { exitCode: number; afterMs: number },
  now: number,
): SimulatedRun {
  if (run.startedAt === undefined || run.restartCount < steadyRestarts) return run
  if (!restarts(run, end.exitCode)) return run
  const cycleMs = end.afterMs + backoffMs(run.restartCount)
  const cycles = Math.floor((now - run.startedAt) / cycleMs) - 1
  if (cycles <= 0) return run
  return {
    ...run,
    startedAt: run.startedAt + cycles * cycleMs,
    restartCount: run.restartCount + cycles,
  }
}

/** Ends the current run with `exitCode`; the policy decides whether another follows. */
export function endRun(run: SimulatedRun, exitCode: number, finishedAt: number): SimulatedRun {
  const ended: Termination = {
    exitCode,
    startedAt: run.startedAt ?? finishedAt,
    finishedAt,
    reason: exitCode === 0 ? 'Completed' : 'Error',
  }
  if (!restarts(run, exitCode)) return { ...run, ended }
  return {
    ...run,
    startedAt: finishedAt + backoffMs(run.restartCount),
    restartCount: run.restartCount + 1,
    previous: ended,
  }
}

function restarts(run: SimulatedRun, exitCode: number): boolean {
  return run.restart === 'always' || (run.restart === 'on-failure' && exitCode !== 0)
}

/** The state of an advanced run at `now`. */
export function stateOf(run: SimulatedRun, now: number): ContainerState {
  if (run.ended !== undefined) return { kind: 'terminated', ...run.ended }
  if (run.startedAt === undefined) return { kind: 'created' }
  if (run.startedAt > now) return { kind: 'waiting', reason: 'Restarting' }
  return { kind: 'running', startedAt: run.startedAt }
}

/** When an advanced run next changes by itself; undefined when it does not. */
export function nextChange(run: SimulatedRun, now: number): number | undefined {
  if (run.startedAt === undefined || run.ended !== undefined) return undefined
  if (run.startedAt > now) return run.startedAt
  return run.script.end === undefined ? undefined : run.startedAt + run.script.end.afterMs
}
