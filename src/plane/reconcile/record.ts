/**
 * Writes the results of background work: always under the claim, always on the current row, and not at all once a
 * later write has superseded the work.
 */

import type { Initiator } from '#activity/record.ts'
import type { Operation } from '#kernel/operation.ts'
import type { Claim, ResourceRow, Tx } from '#stores/store.ts'
import { recordActivity, systemInitiator } from '../audit.ts'
import { appendToFeed, type CompiledStoredType } from '../compiled-type.ts'
import type { Reconciler, Subject } from '../declare/reconciled.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { readOperation, writeOperation } from '../operations.ts'
import type { LargeWork } from './large-work.ts'

/** A claim as its worker holds it. */
export interface Lease {
  readonly claim: Claim
  /** Our clock's time at which it ends unless it is renewed. After that another worker may take it. */
  until: number
  /** Set by an event that arrived during the work; cleared before each observation. */
  hasNewEvent: boolean
  /** Counters of all work of this process. */
  readonly steps: { done: number; failed: number }
  /** Of all work of this process. */
  readonly large: LargeWork
  /** Who changed its resource last; undefined until that was read. */
  owner: string | undefined
  /** False while its owner has too much that waits. */
  hasPlace(): boolean
}

/** One turn of work: the resource as it was when the turn began. */
export interface Work {
  readonly deps: PlaneDependencies
  readonly lease: Lease
  readonly compiled: CompiledStoredType
  readonly reconcile: Reconciler<unknown>
  readonly resource: StoredResource
  readonly subject: Subject<unknown, unknown>
}

/** How an operation ends. */
type Ending = Pick<Operation, 'error'> & { readonly status: 'Succeeded' | 'Failed' | 'Canceled' }

/** The row as it is now, locked. */
interface Locked {
  readonly tx: Tx
  readonly row: ResourceRow
  readonly current: StoredResource
}

/** For a type without a reconciler, or a row that is gone: ends the claim. */
export function recordNothing({ store }: PlaneDependencies, claim: Claim): Promise<void> {
  return store.transact(async (tx) => {
    await tx.assertClaim(claim)
    await tx.unschedule(claim.key)
  })
}

/** Records what was observed, if it changed. */
export async function recordLook(work: Work, observed: unknown, given?: string): Promise<void> {
  const state = given ?? work.resource.state
  if (!isNews(work.resource, state, observed)) return
  await change(work, async (locked) => {
    if (!isSuperseded(work, locked)) await writeSeen(work, locked, state, observed)
  })
}

/** The desired state is reached. False when the user or the engine has changed something meanwhile. */
export async function recordDone(work: Work, observed: unknown): Promise<boolean> {
  const { deps, lease, compiled, reconcile } = work
  let isDone = true
  await change(work, async (locked) => {
    const { tx, row, current } = locked
    // Something may have been added below it since it was emptied.
    const isEmpty = !current.deleting || (await tx.count({ under: row.key, limit: 2 })) <= 1
    isDone = isEmpty && !isSuperseded(work, locked) && !lease.hasNewEvent
    if (!isDone) return
    const now = deps.clock.now()
    const operation = await endOperation(tx, row.key, { status: 'Succeeded' }, now)
    if (current.deleting) {
      await tx.remove(row.key, row.etag)
      await appendToFeed(tx, compiled, row.key)
      if (operation === undefined) await recordGone(work, tx, now)
    } else if (isNews(current, 'Succeeded', observed)) {
      await writeSeen(work, locked, 'Succeeded', observed)
    }
    if (current.deleting || reconcile.resyncSeconds === undefined) await tx.unschedule(row.key)
    if (operation !== undefined) await recordEnd(work, tx, operation, now)
  })
  return isDone
}

/** The operation fails. The resource stays readable, and a later PUT or DELETE tries again. */
export async function recordFailed(work: Work, ending: Ending, observed: unknown): Promise<void> {
  const { deps, compiled, reconcile } = work
  await change(work, async (locked) => {
    const { tx, row, current } = locked
    if (isSuperseded(work, locked)) return
    const now = deps.clock.now()
    const operation = await endOperation(tx, row.key, ending, now)
    const etag = deps.ids.uuid()
    const { status: state } = ending
    await tx.update(
      writeRow(compiled, { ...current, state, observed, deleting: false, etag }),
      row.etag,
    )
    if (reconcile.resyncSeconds === undefined) await tx.unschedule(row.key)
    if (operation !== undefined) await recordEnd(work, tx, operation, now)
  })
}

/** Writes under the claim; does nothing when the row is gone. */
function change(
  { deps, lease: { claim } }: Work,
  edit: (locked: Locked) => Promise<void>,
): Promise<void> {
  return deps.store.transact(async (tx) => {
    await tx.assertClaim(claim)
    const row = await tx.lock(claim.key, 'change')
    if (row !== undefined) await edit({ tx, row, current: readRow(row) })
  })
}

function isSuperseded({ resource }: Work, { current }: Locked): boolean {
  return current.generation !== resource.generation
}

function isNews(resource: StoredResource, state: string, observed: unknown): boolean {
  return state !== resource.state || JSON.stringify(observed) !== JSON.stringify(resource.observed)
}

/** Progress of background work does not count as a change of the resource. */
async function writeSeen(
  { compiled, reconcile, deps }: Work,
  { tx, row, current }: Locked,
  state: string,
  observed: unknown,
): Promise<void> {
  const etag = reconcile.background === undefined ? deps.ids.uuid() : row.etag
  await tx.update(writeRow(compiled, { ...current, state, observed, etag }), row.etag)
}

async function endOperation(
  tx: Tx,
  key: string,
  { status, error }: Ending,
  now: number,
): Promise<Operation | undefined> {
  const row = await tx.runningOperation(key)
  if (row === undefined) return undefined
  const operation: Operation = {
    ...readOperation(row),
    status,
    endTime: new Date(now).toISOString(),
    ...(error === undefined ? {} : { error }),
  }
  await tx.putOperation(writeOperation(operation, key))
  return operation
}

function recordEnd(work: Work, tx: Tx, operation: Operation, now: number): Promise<void> {
  const { status, error, kind } = operation
  const verb = kind === 'delete' ? 'delete' : kind === 'action' ? 'action' : 'write'
  return recordActivity(tx, {
    at: now,
    initiator: initiatorOf(operation),
    action: operation.action ?? `${work.compiled.permission}/${verb}`,
    target: work.resource.id,
    // Only ended operations are reported.
    status: status === 'Running' ? 'Accepted' : status,
    operationId: operation.id,
    ...(error === undefined ? {} : { code: error.code }),
  })
}

/** It was removed with a deleted scope, without an operation of its own. */
function recordGone({ compiled, resource }: Work, tx: Tx, now: number): Promise<void> {
  return recordActivity(tx, {
    at: now,
    initiator: systemInitiator,
    action: `${compiled.permission}/delete`,
    target: resource.id,
    status: 'Succeeded',
  })
}

function initiatorOf({ principalId, caller, correlationId }: Operation): Initiator {
  return { principal: { id: principalId, ...caller }, correlationId }
}
