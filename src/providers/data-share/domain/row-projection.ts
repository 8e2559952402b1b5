/**
 * Resources that the other side sees as a row: the reconciler writes the row, and shows what others changed in it.
 * The rows take the place of an engine; no network is used.
 */

import {
  defineReconciler,
  type Reconciler,
  StepFailure,
  type Subject,
} from '#plane/declare/reconciled.ts'
import type { WakeSignals } from '../dependencies.ts'

interface RowProjection<M, O> {
  /** The current row; undefined when there is none. */
  read(subject: Subject<M, unknown>): Promise<(O & Generation) | undefined>
  write(subject: Subject<M, unknown> & { readonly desired: M }): Promise<void>
  erase(subject: Subject<M, unknown>): Promise<void>
}

export interface Generation {
  /** The generation of the resource that the row was written from. A row of another generation is written again. */
  readonly generation: number
}

/** The longest delay when a wake is lost. */
const resyncSeconds = 300

export function projectionReconciler<M, O>(
  mirror: RowProjection<M, O>,
  wakes: WakeSignals,
): Reconciler<M> {
  return defineReconciler<M, (O & Generation) | null, 'write' | 'erase'>({
    deadlineSeconds: 120,
    retryAfterSeconds: 1,
    resyncSeconds,
    states: { creating: 'Creating', updating: 'Creating', deleting: 'Deleting' },
    observe: async (subject) => (await mirror.read(subject)) ?? null,
    next({ desired, generation }, row) {
      if (desired === undefined) {
        return row === null ? { kind: 'done' } : { kind: 'step', step: 'erase' }
      }
      return row?.generation === generation ? { kind: 'done' } : { kind: 'step', step: 'write' }
    },
    async perform(subject, step) {
      const { desired } = subject
      if (step === 'erase' || desired === undefined) return mirror.erase(subject)
      await mirror.write({ ...subject, desired })
    },
    watchEvents: (wake, signal) => wakes.onWake(wake, signal),
  })
}

/** Resources below it have reconcilers, so its delete waits for theirs. */
export const deletedWithChildren = {
  deadlineSeconds: 600,
  retryAfterSeconds: 1,
  states: { creating: 'Creating', updating: 'Creating', deleting: 'Deleting' },
} as const

/** It has no engine. */
export function holderReconciler<M>(): Reconciler<M> {
  return defineReconciler<M, null, never>({
    ...deletedWithChildren,
    observe: async () => null,
    next: () => ({ kind: 'done' }),
    perform: async () => undefined,
  })
}

export function never(code: string, message: string): StepFailure {
  return new StepFailure('never', code, message)
}
