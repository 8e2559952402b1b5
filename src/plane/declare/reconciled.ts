/** Stored types with something real behind them, which a reconciler creates and changes to match the stored model. */

import type { ApiError, ErrorDetail } from '#kernel/error.ts'
import type { Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Resource } from './resource.ts'
import type { StoredMembers } from './stored.ts'

/** The reconciler's view of one resource. Deletion is no special case: `desired` is then undefined. */
export interface Subject<M, O> {
  readonly id: ResourceId
  readonly desired: M | undefined
  /** The model as stored, also during deletion: it holds the names of what has to be removed. */
  readonly model: M
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
  /** What was recorded last. */
  readonly last: O | undefined
  readonly generation: number
  /** A stable, opaque name that any engine accepts. Derived from the id, and the same for the resource's whole life. */
  readonly token: string
  readonly state: string
  readonly now: number
  readonly log: Log
}

export type Next<S, O> =
  /** Perform this step, record `observed`, then observe again. */
  | { readonly kind: 'step'; readonly step: S; readonly state?: string }
  /** Nothing to do until later: the engine is working. */
  | {
      readonly kind: 'wait'
      readonly seconds: number
      readonly state?: string
      readonly observed?: O
    }
  /** The desired state is reached. With `resyncSeconds` it is checked again later, or after `againSeconds` if that is sooner. */
  | { readonly kind: 'done'; readonly observed?: O; readonly againSeconds?: number }
  /** The desired state can never be reached: the operation fails with this error. */
  | {
      readonly kind: 'fail'
      readonly code: string
      readonly message: string
      /** Several reasons, as details of the operation's error. */
      readonly details?: readonly ErrorDetail[]
      /** `Canceled`: the user cancelled it. Default `Failed`. */
      readonly status?: 'Failed' | 'Canceled'
      readonly observed?: O
    }

/** `observe` asks the engine, `next` is pure, `perform` does one idempotent step. Each may run again. */
export interface Reconciler<M, O = unknown, S = unknown> {
  readonly deadlineSeconds: number
  readonly retryAfterSeconds: number
  /** Seconds after `done` before it is observed again, so that drift is found without a request. */
  readonly resyncSeconds?: number
  /** The non-terminal states shown while the resource is created, updated or deleted. */
  readonly states: {
    readonly creating: string
    readonly updating: string
    readonly deleting: string
  }
  /** After its end only the record is left, so it is removed at once with a deleted scope. */
  readonly leavesNothing?: true
  /**
   * Its work is no operation: PUT, PATCH and DELETE answer at once, the state stays `Succeeded`, and recorded
   * progress changes no tag. There is no deadline, and `next` does not fail: failures show in what is observed.
   */
  readonly background?: Background<M>
  /**
   * The model that a DELETE stores, to say how the resource is to be removed. Not called when a scope above is
   * deleted.
   */
  toDelete?(resource: Resource<M>, request: DeleteRequestView): M
  observe(subject: Subject<M, O>): Promise<O>
  next(subject: Subject<M, O>, observed: O): Next<S, O>
  perform(subject: Subject<M, O>, step: S): Promise<void>
  /** Called by a fault rule: the engine loses what it runs for the resource, as after a machine failure. */
  lose?(subject: Subject<M, O>): Promise<void>
  /**
   * Called after the store was replaced by another state: drops what is remembered of resources. With a key, after work has
   * lost its claim: what is remembered of that one, at least.
   */
  forget?(key?: string): void
  /** Calls back with the id of each resource that an event of the engine concerns. An event may be missed. */
  watchEvents?(wake: (key: string) => void, signal: AbortSignal): void
}

interface DeleteRequestView {
  readonly query: URLSearchParams
  readonly principal: Principal
  readonly correlationId: string
}

interface Background<M> {
  /** The model that a DELETE stores to end running work. Undefined where nothing runs; the resource is then removed. */
  endInstead?(resource: Resource<M>): M | undefined
  /**
   * True when the resource holds something outside its row, which the reconciler has to remove: a DELETE then opens an
   * operation, as for types whose work is no background.
   */
  leavesSomething?(resource: Resource<M>): boolean
}

/** Thrown by `observe` and `perform` for failures outside our code. `never` fails the operation at once. */
export class StepFailure extends Error {
  readonly retry: 'later' | 'never'
  readonly code: string
  constructor(retry: 'later' | 'never', code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StepFailure'
    this.retry = retry
    this.code = code
  }
}

interface ReconciledMembers<M> extends StoredMembers<M> {
  /** Makes PUT and DELETE long-running, unless the work is in the background. */
  readonly reconcile: Reconciler<M>
  /** The refusal of a write while an operation runs, where it is not the common one. */
  busy?(resource: Resource<M>): ApiError
}

export interface ReconciledType<M = unknown> extends ReconciledMembers<M> {
  readonly kind: 'reconciled'
}

/** The model is erased as in `defineStored`. */
export function defineReconciled<M>(type: ReconciledMembers<M>): ReconciledType {
  return { ...(type as unknown as ReconciledMembers<unknown>), kind: 'reconciled' }
}

/** Observations and steps are types of the reconciler alone, so they are erased in the same way. */
export function defineReconciler<M, O, S>(reconciler: Reconciler<M, O, S>): Reconciler<M> {
  return reconciler as unknown as Reconciler<M>
}
