/**
 * One turn of work under a claim: observe, decide, then a step or a rest. `record.ts` writes the result. A worker
 * that may have lost its claim performs nothing.
 */

import { backOff } from '#kernel/back-off.ts'
import { weightOf } from '#kernel/json-weight.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { groupKey } from '#kernel/resource-id.ts'
import { type ResourceRow, StoreConflict, StoreUnavailable } from '#stores/store.ts'
import { systemInitiator } from '../audit.ts'
import { type Next, StepFailure } from '../declare/reconciled.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { readRow } from '../document.ts'
import { readOperation } from '../operations.ts'
import { subjectOf } from '../subject.ts'
import { emptyScope } from '../verbs/delete.ts'
import type { RemovalProgress } from '../verbs/remove-below.ts'
import {
  type Lease,
  recordDone,
  recordFailed,
  recordLook,
  recordNothing,
  type Work,
} from './record.ts'

const backoffFirstSeconds = 1
const childrenLookSeconds = 1
const hangLookSeconds = 1
/** When work that found no room is looked at again. */
const crowdedLookSeconds = 2

/** False when the claim was given back or lost. */
export async function reconcileOnce(deps: PlaneDependencies, lease: Lease): Promise<boolean> {
  const { key } = lease.claim
  using left = new DisposableStack()
  const enter = (characters: number): boolean => {
    const leave = lease.large.enter(groupKey(key), characters)
    if (leave !== undefined) left.defer(leave)
    return leave !== undefined
  }
  lease.hasNewEvent = false
  // What this process has not seen yet is known to be large when it is there.
  const known = deps.store.largeAt(key)
  if (!enter(known)) return giveBack(deps, lease)
  const row = await deps.store.get(key)
  if (known === 0 && !enter(weightOf(row?.document ?? ''))) return giveBack(deps, lease)
  return await reconcileRow(deps, lease, row)
}

async function giveBack(deps: PlaneDependencies, { claim }: Lease): Promise<false> {
  await deps.store.release(claim, deps.clock.now() + crowdedLookSeconds * 1000, false)
  return false
}

async function reconcileRow(
  deps: PlaneDependencies,
  lease: Lease,
  row: ResourceRow | undefined,
): Promise<boolean> {
  const { claim } = lease
  const compiled = row === undefined ? undefined : deps.registry.byKey(row.type)
  const reconcile = compiled?.reconcile
  if (row === undefined || compiled === undefined || reconcile === undefined) {
    await recordNothing(deps, claim)
    return false
  }
  const resource = readRow(row)
  lease.owner = resource.systemData.lastModifiedBy
  if (!lease.hasPlace()) return giveBack(deps, lease)
  const subject = subjectOf(deps, resource)
  const work: Work = { deps, lease, compiled, reconcile, resource, subject }
  try {
    if (reconcile.lose !== undefined && deps.faults?.ofEngine(claim.key, compiled.fullType)) {
      await reconcile.lose(subject)
    }
    const observed = await reconcile.observe(subject)
    return await follow(work, reconcile.next(subject, observed), observed)
  } catch (error) {
    if (error instanceof StepFailure) return await failed(work, error)
    if (error instanceof StoreConflict || error instanceof StoreUnavailable) throw error
    if (!(await isOverdue(work))) throw error
    // A fault of ours must not keep an operation running for ever. Its text goes to the log only.
    deps.log.error({ key: claim.key, error }, 'background work failed, past its deadline')
    const message = 'an internal error; the log of the server has more'
    return await failed(work, new StepFailure('never', 'InternalServerError', message))
  }
}

/** Carries out what `next` decided. */
async function follow(
  work: Work,
  next: Next<unknown, unknown>,
  observed: unknown,
): Promise<boolean> {
  switch (next.kind) {
    case 'step':
      if (await isOverdue(work)) return failed(work, timedOut())
      await recordLook(work, observed, next.state)
      // After such a delay another worker may have the resource.
      if (!isHeld(work.deps, work.lease)) return false
      switch (work.deps.faults?.ofStep(work.resource.id.key, work.compiled.fullType)) {
        case 'fail':
          return failed(work, new StepFailure('never', 'StepFailed', 'a rule of this installation'))
        case 'hang':
          return rest(work, hangLookSeconds * 1000)
        default:
          await work.reconcile.perform(work.subject, next.step)
          work.lease.steps.done += 1
          return true
      }
    case 'wait':
      if (await isOverdue(work)) return failed(work, timedOut())
      await recordLook(work, next.observed ?? observed, next.state)
      // The event that it would wait for may have come since it observed.
      if (work.lease.hasNewEvent) return true
      return rest(work, await beforeDeadline(work, next.seconds * 1000))
    case 'done':
      return finish(work, next.observed ?? observed, next.againSeconds)
    case 'fail': {
      const { code, message, details, status = 'Failed' } = next
      return fail(work, { status, error: { code, message, details } }, next.observed ?? observed)
    }
    default:
      return next satisfies never
  }
}

/** After its end another worker may have the claim. */
export function isHeld(deps: PlaneDependencies, lease: Lease): boolean {
  return deps.clock.now() < lease.until
}

/** The desired state is reached, unless it has changed meanwhile: then the resource is observed again. */
async function finish(
  work: Work,
  observed: unknown,
  againSeconds = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const { deps, lease, resource, reconcile } = work
  if (resource.deleting && !(await isEmptied(work))) return rest(work, childrenLookSeconds * 1000)
  if (!(await recordDone(work, observed))) return true
  deps.settled(lease.claim.key)
  if (resource.deleting || reconcile.resyncSeconds === undefined) return false
  return rest(work, Math.min(againSeconds, reconcile.resyncSeconds) * 1000)
}

/** Nested and extension resources are removed with it; those with engines of their own are waited for. */
async function isEmptied({ deps, resource }: Work): Promise<boolean> {
  let progress: RemovalProgress
  do {
    progress = await emptyScope(deps, resource.id, systemInitiator)
  } while (progress.remaining > 0 && progress.removed > 0)
  return progress.remaining === 0
}

async function fail(
  work: Work,
  ending: Parameters<typeof recordFailed>[1],
  observed: unknown,
): Promise<boolean> {
  await recordFailed(work, ending, observed)
  await rest(work, (work.reconcile.resyncSeconds ?? 0) * 1000)
  work.deps.settled(work.lease.claim.key)
  return false
}

/** The step failed outside our code. `later` is retried until the operation's deadline. */
async function failed(work: Work, { code, message, retry }: StepFailure): Promise<boolean> {
  const { deps, resource } = work
  const { key, attempt } = work.lease.claim
  work.lease.steps.failed += 1
  deps.log.warn({ key, code, attempt, reason: message }, 'a step failed')
  const isSettled = isTerminalState(resource.state)
  if (!isSettled && (retry === 'never' || (await isOverdue(work)))) {
    return fail(work, { status: 'Failed', error: { code, message } }, resource.observed)
  }
  return rest(work, await beforeDeadline(work, backOffMilliseconds(deps, attempt)), true)
}

/** Gives the claim back until the given time has passed. */
async function rest(
  { deps, lease }: Work,
  milliseconds: number,
  hasFailed = false,
): Promise<false> {
  await deps.store.release(lease.claim, deps.clock.now() + milliseconds, hasFailed)
  return false
}

export function backOffMilliseconds({ limits }: PlaneDependencies, attempt: number): number {
  return backOff({ first: backoffFirstSeconds, most: limits.backoffSecondsMax }, attempt) * 1000
}

function timedOut(): StepFailure {
  return new StepFailure('never', 'OperationTimedOut', 'the deadline passed')
}

async function isOverdue(work: Work): Promise<boolean> {
  return (await millisecondsLeft(work)) < 0
}

/** That long, or until just after the deadline, so that an overdue operation is not kept waiting. */
async function beforeDeadline(work: Work, milliseconds: number): Promise<number> {
  const left = await millisecondsLeft(work)
  return left < 0 ? milliseconds : Math.min(milliseconds, left + 1)
}

/** Time until the operation's deadline; negative after it, infinite without one. */
async function millisecondsLeft({ deps, lease }: Work): Promise<number> {
  const row = await deps.store.runningOperation(lease.claim.key)
  const deadline = row === undefined ? undefined : readOperation(row).deadline
  return deadline === undefined ? Number.POSITIVE_INFINITY : deadline - deps.clock.now()
}
