/**
 * Background work: claim by lease and fence, observe, next, perform, record. A wake carries no data but
 * "look"; all state is in the store, so starting up is not a special case, and any number of replicas
 * share the work without doing a step twice.
 */

import type { Trail } from '#activity/record.ts'
import { isTerminalState, type Operation, type OperationError } from '#kernel/operation.ts'
import {
  type Claim,
  type ResourceRow,
  StoreConflict,
  StoreUnavailable,
  type Tx,
} from '#stores/store.ts'
import { type Next, type Reconciler, StepFailure, type Subject } from './define.ts'
import { readRow, type StoredResource, writeRow } from './document.ts'
import { readOperation, writeOperation } from './operations.ts'
import type { Parts } from './parts.ts'
import type { CompiledType } from './registry.ts'
import { subjectOf } from './subject.ts'
import { ownTrail, recordActivity } from './trail.ts'
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

export function createReconciler(parts: Parts, owner: string, timers: Timers): ReconcilerLoop {
  let running = false
  /** The claiming under way; what is heard of meanwhile is looked for once more at its end. */
  let claiming: Promise<void> | undefined
  let again = false
  let nap: { cancel(): void } | undefined
  let sweepAt = 0
  const underway = new Map<Lease, Promise<void>>()
  const hints = new AbortController()

  const claimUntilQuiet = async (): Promise<void> => {
    try {
      do {
        again = false
        await claimAll()
      } while (again && running)
    } catch (error) {
      // The store is away: claims, if any were made, run out by themselves.
      parts.log.warn({ error: String(error) }, 'background work waits for the store')
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
    const due = await parts.store.nextDue().catch(() => undefined)
    const wait = Math.min(
      idleSecondsMax * 1000,
      Math.max(10, (due ?? Number.POSITIVE_INFINITY) - parts.clock.now()),
    )
    nap?.cancel()
    nap = timers.after(wait, () => void look())
  }

  const claimAll = async (): Promise<void> => {
    while (running) {
      const free = parts.limits.stepsAtOnceMax - underway.size
      if (free <= 0) return
      const now = parts.clock.now()
      const claims = await parts.store.claimDue(owner, now, parts.limits.leaseSeconds, free)
      for (const claim of claims) {
        const until = now + parts.limits.leaseSeconds * 1000
        const lease: Lease = { claim, until, isHinted: false }
        const work = handle(parts, lease, timers)
          .catch((error) => fault(parts, claim, error))
          .finally(() => {
            underway.delete(lease)
            void look()
          })
        underway.set(lease, work)
      }
      if (now >= sweepAt) {
        sweepAt = now + sweepEverySeconds * 1000
        await parts.store.sweepOperations(
          now - parts.limits.operationKeptSeconds * 1000,
          sweepRowsMax,
        )
      }
      if (claims.length < free) return
    }
  }

  return {
    start() {
      running = true
      parts.store.onWork(() => void look())
      for (const { declaration } of parts.registry.types) {
        declaration.reconcile?.hints?.((key) => {
          // Said at once: work under way that has looked already must look again.
          for (const lease of underway.keys()) if (lease.claim.key === key) lease.isHinted = true
          void hint(parts, key, look)
        }, hints.signal)
      }
      void look()
    },
    wake() {
      if (running) void look()
    },
    async idle() {
      for (;;) {
        await Promise.all(underway.values())
        const due = await parts.store.nextDue()
        // Claims that are still to be heard of make their work due no more.
        const isQuiet = underway.size === 0 && claiming === undefined
        if (isQuiet && (due === undefined || due > parts.clock.now())) return
        await new Promise<void>((resolve) => timers.after(5, resolve))
      }
    },
    async [Symbol.asyncDispose]() {
      running = false
      hints.abort()
      nap?.cancel()
      // Claims still to be heard of are worked on too, or they would be held until their leases end.
      while (claiming !== undefined || underway.size > 0) {
        await claiming
        await Promise.all(underway.values())
      }
    },
  }
}

/** An engine's hint: the resource becomes due now, if it is one that is looked after. */
async function hint(parts: Parts, key: string, look: () => Promise<void>): Promise<void> {
  try {
    await parts.store.transact(async (tx) => {
      // Locked, so that work which is ending either sees the hint or ends before this is scheduled.
      if ((await tx.lock(key, 'share')) !== undefined) await tx.schedule(key, parts.clock.now())
    })
    await look()
  } catch (error) {
    parts.log.debug({ key, error: String(error) }, 'a hint was lost; the next look will see')
  }
}

/** A fault of ours or the store's in background work: logged, tried again later, never a crash. */
async function fault(parts: Parts, claim: Claim, error: unknown): Promise<void> {
  // A claim that another has now is his to work on, and a store that is away comes back.
  const isOurs = !(error instanceof StoreConflict || error instanceof StoreUnavailable)
  parts.log[isOurs ? 'error' : 'warn']({ key: claim.key, error }, 'background work failed')
  await parts.store
    .release(claim, parts.clock.now() + backoff(parts, claim.attempt), true)
    .catch(() => undefined)
}

function backoff(parts: Parts, attempt: number): number {
  return (
    Math.min(parts.limits.backoffSecondsMax, backoffFirstSeconds * 2 ** Math.min(attempt, 20)) *
    1000
  )
}

/** A claim as its worker holds it. */
interface Lease {
  readonly claim: Claim
  /** When it ends unless it is renewed, by our clock. After that another may have it. */
  until: number
  /** Set by a hint that came while the work was under way; cleared before each look. */
  isHinted: boolean
}

async function handle(parts: Parts, lease: Lease, timers: Timers): Promise<void> {
  const { claim } = lease
  const everyMilliseconds = (parts.limits.leaseSeconds * 1000) / 3
  const renew = async (): Promise<void> => {
    const asked = parts.clock.now()
    const held = await parts.store
      .renew(claim, asked, parts.limits.leaseSeconds)
      .catch(() => undefined)
    // Without an answer it may be ours still, but no longer than until its end.
    if (held !== undefined) lease.until = held ? asked + parts.limits.leaseSeconds * 1000 : asked
    if (held !== false) timer = timers.after(everyMilliseconds, () => void renew())
  }
  let timer = timers.after(everyMilliseconds, () => void renew())
  try {
    for (let steps = 0; isHeld(parts, lease) && steps < stepsPerClaimMax; steps++) {
      if (!(await lookOnce(parts, lease))) return
    }
    await parts.store.release(claim, parts.clock.now(), false)
  } finally {
    timer.cancel()
  }
}

function isHeld(parts: Parts, lease: Lease): boolean {
  return parts.clock.now() < lease.until
}

/** One turn of observe, next, perform, record. False when the claim was given back. */
async function lookOnce(parts: Parts, lease: Lease): Promise<boolean> {
  const { claim } = lease
  lease.isHinted = false
  const row = await parts.store.get(claim.key)
  const compiled = row === undefined ? undefined : parts.registry.byKey(row.type)
  const reconcile = compiled?.declaration.reconcile
  if (row === undefined || compiled === undefined || reconcile === undefined) {
    await parts.store.transact(async (tx) => {
      await tx.assertClaim(claim)
      await tx.unschedule(claim.key)
    })
    return false
  }
  const work: Work = { parts, lease, claim, compiled, reconcile, resource: readRow(row) }
  const subject = subjectOf(parts, work.resource)
  try {
    const observed = await reconcile.observe(subject)
    const next = reconcile.next(subject, observed)
    return await follow(work, subject, next, observed)
  } catch (error) {
    if (error instanceof StepFailure) return await failed(work, error)
    if (error instanceof StoreConflict || error instanceof StoreUnavailable) throw error
    if (!(await overdue(work))) throw error
    // A fault of ours does not keep an operation running for ever. Its text is for the log alone.
    parts.log.error({ key: claim.key, error }, 'background work failed, past its deadline')
    const message = 'an internal error; the log of the server has more'
    return await failed(work, new StepFailure('never', 'InternalServerError', message))
  }
}

interface Work {
  readonly parts: Parts
  readonly lease: Lease
  readonly claim: Claim
  readonly compiled: CompiledType
  readonly reconcile: Reconciler<unknown>
  readonly resource: StoredResource
}

async function follow(
  work: Work,
  subject: Subject<unknown, unknown>,
  next: Next<unknown, unknown>,
  observed: unknown,
): Promise<boolean> {
  const { parts, claim, reconcile } = work
  switch (next.kind) {
    case 'step': {
      if (await overdue(work)) return await failed(work, timedOut())
      await recordLook(work, subject, observed, next.state)
      // Whoever was held up for so long may not be alone with the resource any more.
      if (!isHeld(parts, work.lease)) return false
      await reconcile.perform(subject, next.step)
      return true
    }
    case 'wait':
      if (await overdue(work)) return await failed(work, timedOut())
      await recordLook(work, subject, next.observed ?? observed, next.state)
      // What it was to wait for may have come since it looked.
      if (work.lease.isHinted) return true
      await parts.store.release(claim, await beforeDeadline(work, next.seconds * 1000), false)
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
function tagAfter({ reconcile, parts }: Work, row: ResourceRow): string {
  return reconcile.background === undefined ? parts.ids.uuid() : row.etag
}

/** A write under the claim, on the row as it is now; nothing when the row is gone. */
function change(
  work: Work,
  edit: (tx: Tx, row: ResourceRow, current: StoredResource) => Promise<void>,
): Promise<void> {
  const { parts, claim } = work
  return parts.store.transact(async (tx) => {
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
  const { parts, claim, resource, reconcile } = work
  if (resource.deleting) {
    // Nested and extension resources go with it; those with engines of their own are waited for.
    let swept = await emptyScope(parts, resource.id, ownTrail)
    while (swept.remaining > 0 && swept.removed > 0) {
      swept = await emptyScope(parts, resource.id, ownTrail)
    }
    if (swept.remaining > 0) {
      await parts.store.release(claim, parts.clock.now() + 1000, false)
      return false
    }
  }
  let outdated = false
  await change(work, async (tx, row, current) => {
    outdated = current.generation !== subject.generation || work.lease.isHinted
    // Something may have been hung on it since it was emptied.
    if (!outdated && current.deleting) {
      outdated = (await tx.count({ under: row.key, limit: 2 })) > 1
    }
    if (outdated) return
    const now = parts.clock.now()
    const operation = await endOperation(work, tx, 'Succeeded', undefined, now)
    if (current.deleting) {
      await tx.remove(row.key, row.etag)
      const { feed } = work.compiled.declaration
      if (feed !== undefined) await tx.follow(feed, row.key)
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
  parts.settled(claim.key)
  if (!resource.deleting && reconcile.resyncSeconds !== undefined) {
    await parts.store.release(claim, parts.clock.now() + reconcile.resyncSeconds * 1000, false)
  }
  return false
}

/** The world failed. Later means later, until the deadline of the operation that asked for it. */
async function failed(work: Work, error: StepFailure): Promise<boolean> {
  const { parts, claim, resource } = work
  parts.log.warn(
    { key: claim.key, code: error.code, attempt: claim.attempt, reason: error.message },
    'a step failed',
  )
  const settled = isTerminalState(resource.state)
  if (!settled && (error.retry === 'never' || (await overdue(work)))) {
    await end(work, 'Failed', { code: error.code, message: error.message }, resource.observed)
    return false
  }
  const dueAt = await beforeDeadline(work, backoff(parts, claim.attempt))
  await parts.store.release(claim, dueAt, true)
  return false
}

function timedOut(): StepFailure {
  return new StepFailure('never', 'OperationTimedOut', 'the deadline passed')
}

async function overdue(work: Work): Promise<boolean> {
  const deadline = await deadlineOf(work)
  return deadline !== undefined && work.parts.clock.now() > deadline
}

async function deadlineOf(work: Work): Promise<number | undefined> {
  const row = await work.parts.store.runningOperation(work.claim.key)
  return row === undefined ? undefined : readOperation(row).deadline
}

/** So much later, or right after the deadline: an operation that is overdue is not kept waiting. */
async function beforeDeadline(work: Work, milliseconds: number): Promise<number> {
  const now = work.parts.clock.now()
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
  const { parts, compiled, claim, reconcile, resource } = work
  await change(work, async (tx, row, current) => {
    if (current.generation !== resource.generation) return
    const now = parts.clock.now()
    const operation = await endOperation(work, tx, status, error, now)
    await tx.update(
      writeRow(compiled, {
        ...current,
        state: status,
        observed,
        deleting: false,
        etag: parts.ids.uuid(),
      }),
      row.etag,
    )
    if (reconcile.resyncSeconds === undefined) await tx.unschedule(row.key)
    if (operation !== undefined) await recordEnd(work, tx, operation, now)
  })
  await parts.store.release(claim, parts.clock.now() + (reconcile.resyncSeconds ?? 0) * 1000, false)
  parts.settled(claim.key)
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

function recordEnd(work: Work, tx: Tx, operation: Operation, now: number): Promise<void> {
  const { status, error, kind } = operation
  const verb = kind === 'delete' ? 'delete' : kind === 'action' ? 'action' : 'write'
  return recordActivity(tx, {
    at: now,
    trail: trailOfOperation(operation),
    action: operation.action ?? `${work.compiled.permission}/${verb}`,
    target: work.resource.id,
    // Only ended operations are told of.
    status: status === 'Running' ? 'Accepted' : status,
    operationId: operation.id,
    ...(error === undefined ? {} : { code: error.code }),
  })
}

/** It went with a scope that was deleted, without an operation of its own. */
function recordGone({ compiled, resource }: Work, tx: Tx, now: number): Promise<void> {
  return recordActivity(tx, {
    at: now,
    trail: ownTrail,
    action: `${compiled.permission}/delete`,
    target: resource.id,
    status: 'Succeeded',
  })
}

function trailOfOperation({ principalId, caller, correlationId }: Operation): Trail {
  return { principal: { id: principalId, ...caller }, correlationId }
}
