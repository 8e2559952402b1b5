/**
 * Background work: claim by lease and fence, observe, next, perform, record. A wake carries no data but
 * "look"; all state is in the store, so starting up is not a special case, and any number of replicas
 * share the work without doing a step twice.
 */

import { backOff } from '#kernel/back-off.ts'
import { isTerminalState, type Operation, type OperationError } from '#kernel/operation.ts'
import {
  type Claim,
  type ResourceRow,
  StoreConflict,
  StoreUnavailable,
  type Tx,
} from '#stores/store.ts'
import { systemInitiator } from './audit.ts'
import { appendToFeed, type CompiledStoredType } from './compiled-type.ts'
import { type Next, type Reconciler, StepFailure, type Subject } from './declare/reconciled.ts'
import type { PlaneDependencies } from './dependencies.ts'
import { readRow, type StoredResource, writeRow } from './document.ts'
import { readOperation, writeOperation } from './operations.ts'
import { recordEnd, recordGone } from './reconciler-activity.ts'
import { subjectOf } from './subject.ts'
import { emptyScope } from './verbs/delete.ts'

/** Steps done under one claim before it is given back, so that one resource cannot hold a worker for good. */
const stepsPerClaimMax = 50
const sweepEverySeconds = 600
const sweepRowsMax = 500
const idleSecondsMax = 5
const backoffFirstSeconds = 1

/** The real passage of time, which leases and naps need; `Clock` may stand still in a test. */
export interface Timers {
  after(milliseconds: number, callback: () => void): { cancel(): void }
}

export interface ReconcilerLoop extends AsyncDisposable {
  start(): void
  /** Something may be due: look soon. Never loses work by being lost. */
  wake(): void
  /** Resolves when nothing is due and nothing is under way: for tests. */
  idle(): Promise<void>
}

export function createReconciler(
  deps: PlaneDependencies,
  owner: string,
  timers: Timers,
): ReconcilerLoop {
  let running = false
  /** The claiming under way; what is heard of meanwhile is looked for once more at its end. */
  let claiming: Promise<void> | undefined
  let again = false
  let nap: { cancel(): void } | undefined
  let sweepAt = 0
  const underway = new Map<Lease, Promise<void>>()
  const closing = new AbortController()

  const claimUntilQuiet = async (): Promise<void> => {
    try {
      do {
        again = false
        await claimAll()
      } while (again && running)
    } catch (error) {
      // The store is away: claims, if any were made, run out by themselves.
      deps.log.warn({ error: String(error) }, 'background work waits for the store')
    } finally {
      claiming = undefined
    }
  }

  const look = async (): Promise<void> => {
    if (claiming !== undefined) {
      again = true
      return
    }
    nap?.cancel()
    claiming = claimUntilQuiet()
    await claiming
    if (!running) return
    const due = await deps.store.nextDue().catch(() => undefined)
    const wait = Math.min(
      idleSecondsMax * 1000,
      Math.max(10, (due ?? Number.POSITIVE_INFINITY) - deps.clock.now()),
    )
    nap?.cancel()
    nap = timers.after(wait, () => void look())
  }

  const claimAll = async (): Promise<void> => {
    while (running) {
      const free = deps.limits.stepsAtOnceMax - underway.size
      if (free <= 0) return
      const now = deps.clock.now()
      const claims = await deps.store.claimDue(owner, now, deps.limits.leaseSeconds, free)
      for (const claim of claims) {
        const until = now + deps.limits.leaseSeconds * 1000
        const lease: Lease = { claim, until, hasNewEvent: false }
        const work = handle(deps, lease, timers)
          .catch((error) => fault(deps, claim, error))
          .finally(() => {
            underway.delete(lease)
            void look()
          })
        underway.set(lease, work)
      }
      if (now >= sweepAt) {
        sweepAt = now + sweepEverySeconds * 1000
        await deps.store.sweepOperations(
          now - deps.limits.operationKeptSeconds * 1000,
          sweepRowsMax,
        )
      }
      if (claims.length < free) return
    }
  }

  return {
    start() {
      running = true
      deps.store.onWork(() => void look())
      for (const { reconcile } of deps.registry.types) {
        reconcile?.watchEvents?.((key) => {
          // Said at once: work under way that has looked already must look again.
          for (const lease of underway.keys()) if (lease.claim.key === key) lease.hasNewEvent = true
          void handleEvent(deps, key, look)
        }, closing.signal)
      }
      void look()
    },
    wake() {
      if (running) void look()
    },
    async idle() {
      for (;;) {
        await Promise.all(underway.values())
        const due = await deps.store.nextDue()
        // Claims that are still to be heard of make their work due no more.
        const isQuiet = underway.size === 0 && claiming === undefined
        if (isQuiet && (due === undefined || due > deps.clock.now())) return
        await new Promise<void>((resolve) => timers.after(5, resolve))
      }
    },
    async [Symbol.asyncDispose]() {
      running = false
      closing.abort()
      nap?.cancel()
      // Claims still to be heard of are worked on too, or they would be held until their leases end.
      while (claiming !== undefined || underway.size > 0) {
        await claiming
        await Promise.all(underway.values())
      }
    },
  }
}

/** An event of the engine: the resource becomes due now, if it is stored. */
async function handleEvent(
  deps: PlaneDependencies,
  key: string,
  look: () => Promise<void>,
): Promise<void> {
  try {
    await deps.store.transact(async (tx) => {
      // Locked, so that work which is ending either sees the event or ends before this is scheduled.
      if ((await tx.lock(key, 'share')) !== undefined) await tx.schedule(key, deps.clock.now())
    })
    await look()
  } catch (error) {
    deps.log.debug(
      { key, error: String(error) },
      'an event was lost; the next look sees the change',
    )
  }
}

/** A fault of ours or the store's in background work: logged, tried again later, never a crash. */
async function fault(deps: PlaneDependencies, claim: Claim, error: unknown): Promise<void> {
  // A claim that another has now is his to work on, and a store that is away comes back.
  const isOurs = !(error instanceof StoreConflict || error instanceof StoreUnavailable)
  deps.log[isOurs ? 'error' : 'warn']({ key: claim.key, error }, 'background work failed')
  await deps.store
    .release(claim, deps.clock.now() + backoff(deps, claim.attempt), true)
    .catch(() => undefined)
}

function backoff(deps: PlaneDependencies, attempt: number): number {
  return (
    backOff({ first: backoffFirstSeconds, most: deps.limits.backoffSecondsMax }, attempt) * 1000
  )
}

/** A claim as its worker holds it. */
interface Lease {
  readonly claim: Claim
  /** When it ends unless it is renewed, by our clock. After that another may have it. */
  until: number
  /** Set by an event that came while the work was under way; cleared before each look. */
  hasNewEvent: boolean
}

async function handle(deps: PlaneDependencies, lease: Lease, timers: Timers): Promise<void> {
  const { claim } = lease
  const everyMilliseconds = (deps.limits.leaseSeconds * 1000) / 3
  const renew = async (): Promise<void> => {
    const asked = deps.clock.now()
    const held = await deps.store
      .renew(claim, asked, deps.limits.leaseSeconds)
      .catch(() => undefined)
    // Without an answer it may be ours still, but no longer than until its end.
    if (held !== undefined) lease.until = held ? asked + deps.limits.leaseSeconds * 1000 : asked
    if (held !== false) timer = timers.after(everyMilliseconds, () => void renew())
  }
  let timer = timers.after(everyMilliseconds, () => void renew())
  try {
    for (let steps = 0; isHeld(deps, lease) && steps < stepsPerClaimMax; steps++) {
      if (!(await lookOnce(deps, lease))) return
    }
    await deps.store.release(claim, deps.clock.now(), false)
  } finally {
    timer.cancel()
  }
}

function isHeld(deps: PlaneDependencies, lease: Lease): boolean {
  return deps.clock.now() < lease.until
}

/** One turn of observe, next, perform, record. False when the claim was given back. */
async function lookOnce(deps: PlaneDependencies, lease: Lease): Promise<boolean> {
  const { claim } = lease
  lease.hasNewEvent = false
  const row = await deps.store.get(claim.key)
  const compiled = row === undefined ? undefined : deps.registry.byKey(row.type)
  const reconcile = compiled?.reconcile
  if (row === undefined || compiled === undefined || reconcile === undefined) {
    await deps.store.transact(async (tx) => {
      await tx.assertClaim(claim)
      await tx.unschedule(claim.key)
    })
    return false
  }
  const work: Work = { deps, lease, claim, compiled, reconcile, resource: readRow(row) }
  const subject = subjectOf(deps, work.resource)
  try {
    const observed = await reconcile.observe(subject)
    const next = reconcile.next(subject, observed)
    return await follow(work, subject, next, observed)
  } catch (error) {
    if (error instanceof StepFailure) return await failed(work, error)
    if (error instanceof StoreConflict || error instanceof StoreUnavailable) throw error
    if (!(await overdue(work))) throw error
    // A fault of ours does not keep an operation running for ever. Its text is for the log alone.
    deps.log.error({ key: claim.key, error }, 'background work failed, past its deadline')
    const message = 'an internal error; the log of the server has more'
    return await failed(work, new StepFailure('never', 'InternalServerError', message))
  }
}

interface Work {
  readonly deps: PlaneDependencies
  readonly lease: Lease
  readonly claim: Claim
  readonly compiled: CompiledStoredType
  readonly reconcile: Reconciler<unknown>
  readonly resource: StoredResource
}

async function follow(
  work: Work,
  subject: Subject<unknown, unknown>,
  next: Next<unknown, unknown>,
  observed: unknown,
): Promise<boolean> {
  const { deps, claim, reconcile } = work
  switch (next.kind) {
    case 'step': {
      if (await overdue(work)) return await failed(work, timedOut())
      await recordLook(work, subject, observed, next.state)
      // Whoever was held up for so long may not be alone with the resource any more.
      if (!isHeld(deps, work.lease)) return false
      await reconcile.perform(subject, next.step)
      return true
    }
    case 'wait':
      if (await overdue(work)) return await failed(work, timedOut())
      await recordLook(work, subject, next.observed ?? observed, next.state)
      // What it was to wait for may have come since it looked.
      if (work.lease.hasNewEvent) return true
      await deps.store.release(claim, await beforeDeadline(work, next.seconds * 1000), false)
      return false
    case 'done':
      return await finish(work, subject, next.observed ?? observed)
    case 'fail': {
      const { code, message, details, status = 'Failed' } = next
      await end(work, status, { code, message, details }, next.observed ?? observed)
      return false
    }
    default:
      return next satisfies never
  }
}

/** Writes down what was seen, if it is news. */
async function recordLook(
  work: Work,
  subject: Subject<unknown, unknown>,
  observed: unknown,
  state: string | undefined,
): Promise<void> {
  const { resource } = work
  const stateNow = state ?? resource.state
  if (stateNow === resource.state && JSON.stringify(observed) === JSON.stringify(subject.last))
    return
  await change(work, async (tx, row, current) => {
    if (current.generation !== subject.generation) return
    await tx.update(
      writeRow(work.compiled, {
        ...current,
        state: stateNow,
        observed,
        etag: tagAfter(work, row),
      }),
      row.etag,
    )
  })
}

/** What is recorded of background work is no change of the resource. */
function tagAfter({ reconcile, deps }: Work, row: ResourceRow): string {
  return reconcile.background === undefined ? deps.ids.uuid() : row.etag
}

/** A write under the claim, on the row as it is now; nothing when the row is gone. */
function change(
  work: Work,
  edit: (tx: Tx, row: ResourceRow, current: StoredResource) => Promise<void>,
): Promise<void> {
  const { deps, claim } = work
  return deps.store.transact(async (tx) => {
    await tx.assertClaim(claim)
    const row = await tx.lock(claim.key, 'change')
    if (row !== undefined) await edit(tx, row, readRow(row))
  })
}

/** Desired is reached. When the user changed it meanwhile, it is not: look again. */
async function finish(
  work: Work,
  subject: Subject<unknown, unknown>,
  observed: unknown,
): Promise<boolean> {
  const { deps, claim, resource, reconcile } = work
  if (resource.deleting) {
    // Nested and extension resources go with it; those with engines of their own are waited for.
    let swept = await emptyScope(deps, resource.id, systemInitiator)
    while (swept.remaining > 0 && swept.removed > 0) {
      swept = await emptyScope(deps, resource.id, systemInitiator)
    }
    if (swept.remaining > 0) {
      await deps.store.release(claim, deps.clock.now() + 1000, false)
      return false
    }
  }
  let outdated = false
  await change(work, async (tx, row, current) => {
    outdated = current.generation !== subject.generation || work.lease.hasNewEvent
    // Something may have been hung on it since it was emptied.
    if (!outdated && current.deleting) {
      outdated = (await tx.count({ under: row.key, limit: 2 })) > 1
    }
    if (outdated) return
    const now = deps.clock.now()
    const operation = await endOperation(work, tx, 'Succeeded', undefined, now)
    if (current.deleting) {
      await tx.remove(row.key, row.etag)
      await appendToFeed(tx, work.compiled, row.key)
      await tx.unschedule(row.key)
    } else {
      const news =
        current.state !== 'Succeeded' ||
        JSON.stringify(observed) !== JSON.stringify(current.observed)
      if (news) {
        await tx.update(
          writeRow(work.compiled, {
            ...current,
            state: 'Succeeded',
            observed,
            etag: tagAfter(work, row),
          }),
          row.etag,
        )
      }
      if (reconcile.resyncSeconds === undefined) await tx.unschedule(row.key)
    }
    if (operation !== undefined) await recordEnd(work, tx, operation, now)
    else if (current.deleting) await recordGone(work, tx, now)
  })
  if (outdated) return true
  deps.settled(claim.key)
  if (!resource.deleting && reconcile.resyncSeconds !== undefined) {
    await deps.store.release(claim, deps.clock.now() + reconcile.resyncSeconds * 1000, false)
  }
  return false
}

/** The world failed. Later means later, until the deadline of the operation that asked for it. */
async function failed(work: Work, error: StepFailure): Promise<boolean> {
  const { deps, claim, resource } = work
  deps.log.warn(
    { key: claim.key, code: error.code, attempt: claim.attempt, reason: error.message },
    'a step failed',
  )
  const settled = isTerminalState(resource.state)
  if (!settled && (error.retry === 'never' || (await overdue(work)))) {
    await end(work, 'Failed', { code: error.code, message: error.message }, resource.observed)
    return false
  }
  const dueAt = await beforeDeadline(work, backoff(deps, claim.attempt))
  await deps.store.release(claim, dueAt, true)
  return false
}

function timedOut(): StepFailure {
  return new StepFailure('never', 'OperationTimedOut', 'the deadline passed')
}

async function overdue(work: Work): Promise<boolean> {
  const deadline = await deadlineOf(work)
  return deadline !== undefined && work.deps.clock.now() > deadline
}

async function deadlineOf(work: Work): Promise<number | undefined> {
  const row = await work.deps.store.runningOperation(work.claim.key)
  return row === undefined ? undefined : readOperation(row).deadline
}

/** So much later, or right after the deadline: an operation that is overdue is not kept waiting. */
async function beforeDeadline(work: Work, milliseconds: number): Promise<number> {
  const now = work.deps.clock.now()
  const deadline = await deadlineOf(work)
  return deadline === undefined || now > deadline
    ? now + milliseconds
    : Math.min(now + milliseconds, deadline + 1)
}

/** The operation ends badly; the resource stays readable, and a later PUT or DELETE tries anew. */
async function end(
  work: Work,
  status: 'Failed' | 'Canceled',
  error: OperationError,
  observed: unknown,
): Promise<void> {
  const { deps, compiled, claim, reconcile, resource } = work
  await change(work, async (tx, row, current) => {
    if (current.generation !== resource.generation) return
    const now = deps.clock.now()
    const operation = await endOperation(work, tx, status, error, now)
    await tx.update(
      writeRow(compiled, {
        ...current,
        state: status,
        observed,
        deleting: false,
        etag: deps.ids.uuid(),
      }),
      row.etag,
    )
    if (reconcile.resyncSeconds === undefined) await tx.unschedule(row.key)
    if (operation !== undefined) await recordEnd(work, tx, operation, now)
  })
  await deps.store.release(claim, deps.clock.now() + (reconcile.resyncSeconds ?? 0) * 1000, false)
  deps.settled(claim.key)
}

async function endOperation(
  work: Work,
  tx: Tx,
  status: Operation['status'],
  error: Operation['error'],
  now: number,
): Promise<Operation | undefined> {
  const row = await tx.runningOperation(work.claim.key)
  if (row === undefined) return undefined
  const operation: Operation = {
    ...readOperation(row),
    status,
    endTime: new Date(now).toISOString(),
    ...(error === undefined ? {} : { error }),
  }
  await tx.putOperation(writeOperation(operation, work.claim.key))
  return operation
}
