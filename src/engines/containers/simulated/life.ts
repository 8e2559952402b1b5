/**
 * The life of one simulated container as a pure function of time: what was written down last, brought forward
 * to now by its script and its restart policy. Nothing ticks; looking is enough.
 */

import type { PartState, Termination } from '../engine.ts'
import type { Script } from './script.ts'

export interface Life {
  readonly script: Script
  readonly restart: 'always' | 'on-failure' | 'never'
  /** Start of the current or last run; undefined before the first. In the future while backing off. */
  readonly startedAt?: number
  readonly restartCount: number
  /** The end of the current run, where it has come. */
  readonly ended?: Termination
  readonly previous?: Termination
}

/** Before the n-th restart in a row: one second, doubling, a minute at most. Chosen, not measured. */
export function backoffMs(restartCount: number): number {
  return Math.min(60_000, 1000 * 2 ** Math.min(restartCount, 6))
}

/** From here on the delay is the same each time, so that years of crashes are one division. */
const steadyRestarts = 6

/** `life` as it stands at `now`. */
export function advance(life: Life, now: number): Life {
  let current = life
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

/** Whole steady cycles at once, all but the last. */
function skip(life: Life, end: { exitCode: number; afterMs: number }, now: number): Life {
  if (life.startedAt === undefined || life.restartCount < steadyRestarts) return life
  if (!restarts(life, end.exitCode)) return life
  const cycleMs = end.afterMs + backoffMs(life.restartCount)
  const cycles = Math.floor((now - life.startedAt) / cycleMs) - 1
  if (cycles <= 0) return life
  return {
    ...life,
    startedAt: life.startedAt + cycles * cycleMs,
    restartCount: life.restartCount + cycles,
  }
}

/** The current run ends with `exitCode`; the policy says whether another follows. */
export function endRun(life: Life, exitCode: number, finishedAt: number): Life {
  const ended: Termination = {
    exitCode,
    startedAt: life.startedAt ?? finishedAt,
    finishedAt,
    reason: exitCode === 0 ? 'Completed' : 'Error',
  }
  if (!restarts(life, exitCode)) return { ...life, ended }
  return {
    ...life,
    startedAt: finishedAt + backoffMs(life.restartCount),
    restartCount: life.restartCount + 1,
    previous: ended,
  }
}

function restarts(life: Life, exitCode: number): boolean {
  return life.restart === 'always' || (life.restart === 'on-failure' && exitCode !== 0)
}

/** How an advanced life looks at `now`. */
export function stateOf(life: Life, now: number): PartState {
  if (life.ended !== undefined) return { kind: 'terminated', ...life.ended }
  if (life.startedAt === undefined) return { kind: 'created' }
  if (life.startedAt > now) return { kind: 'waiting', reason: 'Restarting' }
  return { kind: 'running', startedAt: life.startedAt }
}

/** When an advanced life changes next by itself; undefined for one that will not. */
export function nextChange(life: Life, now: number): number | undefined {
  if (life.startedAt === undefined || life.ended !== undefined) return undefined
  if (life.startedAt > now) return life.startedAt
  return life.script.end === undefined ? undefined : life.startedAt + life.script.end.afterMs
}
