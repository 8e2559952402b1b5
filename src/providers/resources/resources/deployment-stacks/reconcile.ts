/**
 * Carries out and removes a stack. Its state is read from the store after a restart, and it is woken when what it
 * waits for has ended.
 */

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
      const run = openRun(subject)
      await run.look()
      return run.progress()
    },
    next(subject, progress) {
      const run = openRun(subject)
      const waitSeconds = run.isWaiting ? waitSecondsOf(run.characters) : undefined
      const next = nextOf(progress, waitSeconds)
      if (next.kind === 'fail' || next.kind === 'done') {
        runs.delete(subject.id.key)
        awaited.forget(subject.id.key)
      }
      return next
    },
    perform: (subject) => openRun(subject).advance(),
    watchEvents: awaited.watchEvents,
    forget: () => runs.clear(),
  })
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
