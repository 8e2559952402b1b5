/**
 * Carries out and removes a stack. Its state is read from the store after a restart, and it is woken when what it
 * waits for has ended.
 */

import { createHash } from 'node:crypto'
import { isTerminalState } from '#kernel/operation.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import {
  defineReconciler,
  type Next,
  type Reconciler,
  type Subject,
} from '#plane/declare/reconciled.ts'
import { createAwaited } from '../../domain/deployments/awaited.ts'
import { waitSecondsOf } from '../../domain/deployments/open-runs.ts'
import { unmanageActionsIn } from '../../domain/stacks/request.ts'
import { runOf, StackRun, type StackRunDependencies } from '../../domain/stacks/run.ts'
import type { DeploymentStack, StackProgress } from './model.ts'

interface ReconcileStacks extends Omit<StackRunDependencies, 'awaiting'> {
  readonly onSettled: PlaneServices['onSettled']
}

type StackSubject = Subject<DeploymentStack, StackProgress>

export function carryOutStack(deps: ReconcileStacks): Reconciler<DeploymentStack> {
  const runs = new Map<string, StackRun>()
  /** How far each was when it was recorded here. */
  const recorded = new Map<string, string>()
  const awaited = createAwaited(deps.onSettled)
  const runDependencies = { ...deps, awaiting: awaited.awaiting }
  const openRun = ({ id, model, desired, generation, last }: StackSubject): StackRun => {
    const origin = { id, model, generation, isDeleting: desired === undefined, last }
    const known = runs.get(id.key)
    if (known?.id === runOf(origin)) return known
    const run = new StackRun(runDependencies, origin)
    runs.set(id.key, run)
    return run
  }
  const forget = (key: string): void => {
    runs.delete(key)
    recorded.delete(key)
    awaited.forget(key)
  }
  return defineReconciler<DeploymentStack, StackProgress, 'advance'>({
    deadlineSeconds: 6 * 3600,
    retryAfterSeconds: 1,
    states: { creating: 'Creating', updating: 'Creating', deleting: 'Deleting' },
    toDelete: ({ model, generation }, { query, principal, correlationId }) => ({
      ...model,
      deletion: {
        generation: generation + 1,
        actionOnUnmanage: unmanageActionsIn(query),
        principal,
        correlationId,
      },
    }),
    async observe(subject) {
      const { id, model, desired, last, state } = subject
      // An ended one is looked at no more, whatever wakes it: another process may have ended it, or its deadline.
      if (desired !== undefined && isTerminalState(state)) {
        forget(id.key)
        return {
          ...(last ?? { ...unseen, run: model.run }),
          phase: state === 'Succeeded' ? 'done' : 'failed',
        }
      }
      const known = runs.get(id.key)
      // Another process went on with it: what it recorded is newer.
      if (last?.run === known?.id && last !== undefined && recorded.get(id.key) !== markOf(last)) {
        runs.delete(id.key)
      }
      const run = openRun(subject)
      await run.look()
      const progress = run.progress()
      recorded.set(id.key, markOf(progress))
      return progress
    },
    next(subject, progress) {
      if (progress.phase === 'done' || progress.phase === 'failed') {
        forget(subject.id.key)
        return nextOf(progress, undefined)
      }
      const run = openRun(subject)
      const waitSeconds = run.isWaiting ? waitSecondsOf(run.characters) : undefined
      return nextOf(progress, waitSeconds)
    },
    perform: (subject) => openRun(subject).advance(),
    watchEvents: awaited.watchEvents,
    forget: (key) => {
      for (const known of [runs, recorded]) {
        if (key === undefined) known.clear()
        else known.delete(key)
      }
    },
  })
}

const unseen = { resources: [], unmanaged: [], deleted: [], detached: [], failed: [] }

/** The same for a progress and for what is read of its record. */
function markOf({ phase, resources, failed, endedAt, ...removal }: StackProgress): string {
  const { unmanaged, deleted, detached, operations = {} } = removal
  const failures = failed.map(({ id }) => id)
  const gone = [unmanaged, deleted, detached, failures, Object.keys(operations).sort()]
  const text = JSON.stringify([phase, resources, gone, endedAt])
  return createHash('sha256').update(text).digest('base64')
}

const states = {
  deploying: 'Deploying',
  denying: 'UpdatingDenyAssignments',
  removing: 'DeletingResources',
} as const

/** Seconds are given where it waits. */
function nextOf(
  progress: StackProgress,
  waitSeconds: number | undefined,
): Next<'advance', StackProgress> {
  const { phase, error } = progress
  if (phase === 'done') return { kind: 'done' }
  if (phase === 'failed') {
    const { code, message, details } = error ?? { code: 'DeploymentStackFailed', message: '' }
    return { kind: 'fail', code, message, ...(details === undefined ? {} : { details }) }
  }
  const state = states[phase]
  return waitSeconds === undefined
    ? { kind: 'step', step: 'advance', state }
    : { kind: 'wait', seconds: waitSeconds, state }
}
