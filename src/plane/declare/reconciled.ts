/** Stored types with something real behind them, which a reconciler makes as the stored model says. */

import type { ApiError, ErrorDetail } from '#kernel/error.ts'
import type { Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Resource } from './resource.ts'
import type { StoredMembers } from './stored.ts'

/** The reconciler's view of one resource. Deleting is not special: `desired` is nothing. */
export interface Subject<M, O> {
  readonly id: ResourceId
  readonly desired: M | undefined
  /** The model as stored, also while deleting: names of what has to go. */
  readonly model: M
  readonly location: string | undefined
  readonly tags: Readonly<Record<string, string>> | undefined
  /** What was last recorded. */
  readonly last: O | undefined
  readonly generation: number
  /** Stable, opaque, fit for an engine's names: derived from the id, the same for the resource's life. */
  readonly token: string
  readonly state: string
  readonly now: number
  readonly log: Log
}

export type Next<S, O> =
  /** Perform this step, record `observed`, look again. */
  | { readonly kind: 'step'; readonly step: S; readonly state?: string }
  /** Nothing to do until later: the engine works. */
  | {
      readonly kind: 'wait'
      readonly seconds: number
      readonly state?: string
      readonly observed?: O
    }
  /** Desired is reached. With `resyncSeconds` it is looked at again. */
  | { readonly kind: 'done'; readonly observed?: O }
  /** It can never be reached: the operation fails with this error. */
  | {
      readonly kind: 'fail'
      readonly code: string
      readonly message: string
      /** Several reasons, for the operation's error. */
      readonly details?: readonly ErrorDetail[]
      /** `Canceled`: the user called it off. Default `Failed`. */
      readonly status?: 'Failed' | 'Canceled'
      readonly observed?: O
    }

/** `observe` asks the engine, `next` is pure, `perform` does one idempotent step. All may run again. */
export interface Reconciler<M, O = unknown, S = unknown> {
  readonly deadlineSeconds: number
  readonly retryAfterSeconds: number
  /** Look again this long after `done`: drift shows without a request. */
  readonly resyncSeconds?: number
  /** The non-terminal states, as shown while creating, updating, deleting. */
  readonly states: {
    readonly creating: string
    readonly updating: string
    readonly deleting: string
  }
  /**
   * Clients of the type know no 202 to a DELETE, and its work is over at once: the request waits for it a while and
   * answers 200. Where it takes longer, or no worker is there, it is 202 after all.
   */
  readonly deleteIsAwaited?: true
  /** Once it has ended, only its record is left, which goes along with a scope that is deleted at once. */
  readonly leavesNothing?: true
  /**
   * Its work is no operation: PUT, PATCH and DELETE answer at once, the state stays `Succeeded`, and what is recorded
   * of it changes no tag. There is no deadline then, and `next` does not fail: it shows in what is observed.
   */
  readonly background?: Background<M>
  /** What a DELETE stores of how the resource is to go; nothing of it where a scope above is deleted. */
  toDelete?(resource: Resource<M>, request: DeleteRequestView): M
  observe(subject: Subject<M, O>): Promise<O>
  next(subject: Subject<M, O>, observed: O): Next<S, O>
  perform(subject: Subject<M, O>, step: S): Promise<void>
  /** A rule of failure wants it: the engine loses what it runs for the resource, as a broken machine would. */
  lose?(subject: Subject<M, O>): Promise<void>
  /** The store has another state: what is remembered of resources is forgotten. */
  forget?(): void
  /** Calls back with the id of each resource that an event of the engine is about. Events may be lost. */
  watchEvents?(wake: (key: string) => void, signal: AbortSignal): void
}

interface DeleteRequestView {
  readonly query: URLSearchParams
  readonly principal: Principal
  readonly correlationId: string
}

interface Background<M> {
  /** What a DELETE stores instead: the order to end. Undefined where nothing is under way; then the resource goes. */
  endInstead?(resource: Resource<M>): M | undefined
}

/** Thrown by `observe` and `perform` for the world's failures. `never` fails the operation at once. */
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
  /** Makes PUT and DELETE long-running, unless it works in the background. */
  readonly reconcile: Reconciler<M>
  /** What a write meets while an operation runs, where it is not the common code. */
  busy?(resource: Resource<M>): ApiError
}

export interface ReconciledType<M = unknown> extends ReconciledMembers<M> {
  readonly kind: 'reconciled'
}

/** The model is erased as in `defineStored`. */
export function defineReconciled<M>(type: ReconciledMembers<M>): ReconciledType {
  return { ...(type as unknown as ReconciledMembers<unknown>), kind: 'reconciled' }
}

/** What a reconciler observes and the steps it takes are its own, erased likewise. */
export function defineReconciler<M, O, S>(reconciler: Reconciler<M, O, S>): Reconciler<M> {
  return reconciler as unknown as Reconciler<M>
}
