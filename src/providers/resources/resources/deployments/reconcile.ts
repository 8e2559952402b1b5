/**
 * Carrying a deployment out: opened again from the store after a restart, sent on as far as it goes, woken when an
 * operation it waits for has ended. Deleting a deployment deletes its record and nothing it made.
 */

import { createHash } from 'node:crypto'
import { isTerminalState } from '#kernel/operation.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { createRoom } from '#kernel/room.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import {
  defineReconciler,
  type Next,
  type Reconciler,
  StepFailure,
  type Subject,
} from '#plane/declare/reconciled.ts'
import { attempt } from '../../domain/deployments/attempt.ts'
import { createAwaited } from '../../domain/deployments/awaited.ts'
import type { Expanded } from '../../domain/deployments/expand.ts'
import { OpenRuns, waitSecondsOf } from '../../domain/deployments/open-runs.ts'
import { Parents } from '../../domain/deployments/parents.ts'
import { openRun, type Run, type RunDependencies } from '../../domain/deployments/run.ts'
import { deploymentCanceled } from '../../domain/deployments/show.ts'
import { heldBy } from '../../domain/evaluation/remote-plan.ts'
import type { Deployment, Progress } from './model.ts'

/** Nested deployments with linked templates that are sent at once, of one principal and of all. */
const fetchedSizes = { perOwnerMax: 2, sumMax: 16, spare: 4 }

export interface ReconcileDependencies extends Omit<RunDependencies, 'awaiting' | 'fetched'> {
  readonly onSettled: PlaneServices['onSettled']
  /** The plan of a stored run. Throws refusals. */
  expand(id: ResourceId, model: Deployment): Promise<Expanded>
}

export function carryOut(deps: ReconcileDependencies): Reconciler<Deployment> {
  const runs = new OpenRuns<Run>()
  const awaited = createAwaited(deps.onSettled)
  const parents = new Parents(deps.reader, deps.clock)
  const runParts: RunDependencies = {
    caller: deps.caller,
    listTracked: deps.listTracked,
    asRecorded: deps.asRecorded,
    reader: deps.reader,
    clock: deps.clock,
    sealOutputs: (text, idKey, run) => deps.sealOutputs(text, idKey, run),
    openOutputs: (sealed, idKey, run) => deps.openOutputs(sealed, idKey, run),
    awaiting: awaited.awaiting,
    fetched: createRoom(fetchedSizes),
  }

  const forget = (key: string): void => {
    runs.end(key)
    awaited.forget(key)
  }

  function onRun<T>(
    { id, model, last }: Subject<Deployment, Progress>,
    work: (run: Run) => Promise<T>,
  ): Promise<T> {
    const open = async () => {
      const expanded = await deps.expand(id, model)
      const { template, parameters } = expanded.texts
      const run = openRun(runParts, { id, model, expanded, last })
      const held = heldBy(expanded.plan.nodes)
      return { run, characters: template.length + parameters.length, held }
    }
    return runs.use(id.key, model.run, open, work)
  }

  return defineReconciler<Deployment, Progress, 'advance'>({
    deadlineSeconds: 6 * 3600,
    retryAfterSeconds: 1,
    states: { creating: 'Accepted', updating: 'Accepted', deleting: 'Deleting' },
    leavesNothing: true,
    async observe(subject) {
      const { id, desired, model } = subject
      if (desired === undefined) {
        forget(id.key)
        return { run: model.run, phase: 'done', steps: [] }
      }
      const last = subject.last?.run === model.run ? subject.last : undefined
      // An ended one is looked at no more, whatever wakes it: another process may have ended it, or its deadline.
      if (isTerminalState(subject.state)) {
        forget(id.key)
        const phase = subject.state === 'Succeeded' ? 'done' : 'failed'
        return { ...(last ?? { run: model.run, steps: [] }), phase }
      }
      if (last !== undefined) runs.closeUnless(id.key, model.run, markOf(last))
      if (await parents.isAnyCanceled(model)) {
        forget(id.key)
        const { phase: _, ...last } = subject.last ?? { steps: [] }
        return { ...last, run: model.run, phase: 'failed', isParentCanceled: true }
      }
      const opened = await attempt(() => onRun(subject, async (run) => run))
      if (opened.kind === 'refused') {
        throw new StepFailure('never', opened.error.code, opened.error.message)
      }
      return onRun(subject, async (run) => {
        await run.look()
        const progress = run.progress()
        runs.record(id.key, markOf(progress))
        return progress
      })
    },
    next(subject, progress) {
      const next = nextOf(subject, progress, waitSecondsOf(runs.charactersOf(subject.id.key)))
      if (next.kind === 'fail' || next.kind === 'done') forget(subject.id.key)
      return next
    },
    perform: (subject) => onRun(subject, (run) => run.advance()),
    watchEvents: awaited.watchEvents,
    forget: (key) => (key === undefined ? runs.clear() : runs.end(key)),
  })
}

/** The same for a progress and for what is read of its record. */
function markOf({ steps, endedAt, onError }: Progress): string {
  const made = steps.map((one) => [
    one.key,
    one.state,
    one.startedAt,
    one.endedAt,
    one.attempts,
    one.nextAt,
    one.readyBefore,
    one.operation,
  ])
  const text = JSON.stringify([made, endedAt, onError?.state])
  return createHash('sha256').update(text).digest('base64')
}

export function nextOf(
  { desired }: Pick<Subject<Deployment, Progress>, 'desired'>,
  progress: Progress,
  waitSeconds = waitSecondsOf(0),
): Next<'advance', Progress> {
  if (desired === undefined) return { kind: 'done' }
  const isCanceled = desired.canceled === true || progress.isParentCanceled === true
  if (isCanceled && progress.phase !== 'done') {
    // What was sent goes on by itself; nothing more is sent.
    return { kind: 'fail', status: 'Canceled', ...deploymentCanceled }
  }
  switch (progress.phase) {
    case 'ready':
      return { kind: 'step', step: 'advance', state: 'Running' }
    case 'waiting':
      return { kind: 'wait', seconds: waitSeconds, state: 'Running' }
    case 'failed': {
      const { code, message, details } = progress.error ?? { code: 'DeploymentFailed', message: '' }
      return { kind: 'fail', code, message, ...(details === undefined ? {} : { details }) }
    }
    case 'done':
      return { kind: 'done' }
    default:
      return progress.phase satisfies never
  }
}
