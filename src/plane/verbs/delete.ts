/**
 * DELETE. A resource without long-running work is removed at once with everything below it. One with such work is
 * marked, and removed when its engine has nothing left of it. `emptyScope` does the same for a whole group.
 */

import { changesBetween } from '#activity/changes.ts'
import type { Initiator } from '#activity/record.ts'
import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import { isTerminalState } from '#kernel/operation.ts'
import type { Principal } from '#kernel/principal.ts'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import { isCut } from '#stores/list-budget.ts'
import type { Reads, ResourceRow, Tx } from '#stores/store.ts'
import { noAttributes, type Prohibitions } from '../access.ts'
import { attributesOf, describedRow } from '../attributes.ts'
import { changesOf, initiatorOf, recordActivity } from '../audit.ts'
import { appendToFeed, type CompiledStoredType, isLongRunning } from '../compiled-type.ts'
import type { DeletionContext } from '../declare/stored.ts'
import { idOfKey, insideContextOf, type PlaneDependencies } from '../dependencies.ts'
import { readRow, type StoredResource, toWire, writeRow } from '../document.ts'
import { prohibitedError, requireGrant } from '../grant.ts'
import { askGuards } from '../guard.ts'
import type { WriteRoute } from '../locate.ts'
import { freeTurn } from '../next-turn.ts'
import { linkOf, openOperation, readOperation, supersede } from '../operations.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { checkName, impliedScopes, refuseMissingScope } from '../scopes.ts'
import { transactFor } from '../transact-on.ts'
import { answerOf, declaredDelete, endedOperation } from './declared-answer.ts'
import { pollUntilFound } from './poll-until-found.ts'
import { askRightsToDelete, type RightsBefore } from './rights-before.ts'

/** Rows removed in one transaction at most. */
const removalsMax = 200

export async function runDelete(
  deps: PlaneDependencies,
  route: WriteRoute,
  input: RunInput,
): Promise<Outcome> {
  checkName(route.compiled, route.id)
  const request: DeleteRequest = { deps, route, input }
  // What is below goes in bounded transactions. Each makes all checks again.
  let outcome: Outcome | Unfinished
  let { rightsAsOf } = input
  let othersMayGo = false
  do {
    outcome = await transactFor(deps, route.compiled, {
      input: { ...input, rightsAsOf },
      // Not inside: the answer may need another connection, and requests holding all of them may wait for this row.
      open: async (input) => ({
        ...request,
        input,
        prohibitions: await deps.access.prohibitionsFor?.(input.principal),
        may: await askRightsToDelete(deps, route, input.principal),
        othersMayGo,
      }),
      inside: deleteInside,
    })
    if (outcome === 'others') {
      await requireOthersMayGo(request)
      othersMayGo = true
    } else {
      // The caller's own right may be among what went: what has begun is finished.
      rightsAsOf = undefined
    }
  } while (typeof outcome === 'string')
  const { reconcile } = route.compiled
  const { isAwaited: waits } = route.compiled.stored.protocol?.answers?.deleted ?? {}
  const isAwaited = waits === true && outcome.status === 202
  const marked = isAwaited ? await deps.store.get(route.id.key) : undefined
  if (reconcile !== undefined) deps.wake()
  return declaredDelete(route, isAwaited ? await awaitGone(request, outcome, marked) : outcome)
}

async function awaitGone(
  { deps, route, input }: DeleteRequest,
  accepted: Outcome,
  marked: ResourceRow | undefined,
): Promise<Outcome> {
  if (marked === undefined) return { status: 204 }
  const outcome = await pollUntilFound(deps, input, async () => {
    const row = await deps.store.get(route.id.key)
    if (row === undefined) {
      const body = toWire(route.compiled, route.shape, readRow(marked), deps.registry.words)
      return { status: 200, body }
    }
    // The deletion failed, or a new resource has the name by now. The operation tells which.
    return readRow(row).deleting ? undefined : accepted
  })
  return outcome ?? accepted
}

interface DeleteRequest {
  readonly deps: PlaneDependencies
  readonly route: WriteRoute
  readonly input: RunInput
}

interface CheckedDelete extends DeleteRequest {
  readonly prohibitions: Prohibitions | undefined
  readonly may: RightsBefore['may']
  /** All that goes along was looked at, and nothing of it must stay. */
  readonly othersMayGo: boolean
}

/**
 * What the request was for is still there: there is `more` than one transaction removes, or `others` go along, which were
 * not looked at yet.
 */
type Unfinished = 'more' | 'others'

async function deleteInside(request: CheckedDelete, tx: Tx): Promise<Outcome | Unfinished> {
  const { deps, route, input, prohibitions, may } = request
  const { compiled, id, shape } = route
  const { stored, reconcile } = compiled
  const now = deps.clock.now()
  const initiator = initiatorOf(input)
  let absent: ResourceId | undefined
  for (const scope of impliedScopes(id)) {
    const row = await tx.lock(scope.key, 'share')
    if (row === undefined) absent ??= scope
    const type = row === undefined ? undefined : deps.registry.byKey(row.type)
    // A group in deletion lets its members be deleted; a disabled subscription does not.
    if (row !== undefined && !readRow(row).deleting)
      type?.stored.container?.allowsChildren?.(readRow(row))
  }
  const row = await tx.lock(id.key, 'change')
  requireGrant(route, input, () => ({
    now,
    request: noAttributes,
    resource: attributesOf(deps, compiled, row && describedRow(row)),
  }))
  const { query } = input
  const own = { may, id, requested: route.scope, query }
  const context = { ...insideContextOf(deps, input, now, tx), ...own }
  if (row === undefined) {
    if (absent !== undefined) refuseMissingScope(deps, absent)
    await stored.deleteRules?.({ ...context, resource: undefined })
    return { status: 204 }
  }
  const current = readRow(row)
  const verdict = checkPreconditions('DELETE', input.preconditions, current.etag)
  const mustMatch = stored.protocol?.ifMatchRequired?.includes('delete') === true
  if (verdict.kind === 'failed' || (mustMatch && input.preconditions.ifMatch === undefined)) {
    const header = verdict.kind === 'failed' ? verdict.header : 'If-Match'
    throw refuse.PreconditionFailed({ header, id: id.text })
  }
  const { reader, words } = context
  await askGuards(deps.guards, { id, type: stored.type, effect: 'delete', words, reader })
  await stored.deleteRules?.({ ...context, resource: current })
  await requireNothingForbidden(deps, tx, { id, principal: input.principal, prohibitions })
  const ordered = reconcile?.background?.endInstead?.(current)
  if (ordered !== undefined) return endInstead(request, tx, current, ordered)
  const opening = {
    id: current.id,
    compiled,
    kind: 'delete',
    version: route.version,
    principal: input.principal,
    correlationId: input.correlationId,
    action: route.operation,
    now,
    resultStatus: 204,
  } as const
  if (!isLongRunning(compiled) && reconcile?.background?.leavesSomething?.(current) !== true) {
    const unfinished = await removeOthers(request, tx, context)
    if (unfinished !== undefined) return unfinished
    const { remaining } = await removeBelow(deps, tx, { id, initiator, onReconciled })
    if (remaining > 0) return 'more'
    await removeRow(tx, compiled, row)
    if (reconcile !== undefined) await tx.unschedule(row.key)
    const shown = toWire(compiled, shape, current, deps.registry.words)
    await recordActivity(tx, {
      at: now,
      initiator,
      action: route.operation,
      target: current.id,
      status: 'Succeeded',
      httpStatus: answerOf(compiled, 'deleted').status ?? 200,
      changes: changesBetween(shown, undefined),
    })
    const operation = await endedOperation(deps, tx, 'deleted', opening)
    return { status: 200, body: shown, ...(operation === undefined ? {} : { operation }) }
  }
  if (current.deleting) {
    const running = await tx.runningOperation(id.key)
    const link = running === undefined ? undefined : linkOf(readOperation(running), compiled)
    return { status: 202, ...(link === undefined ? {} : { operation: link }) }
  }
  const operation = await openOperation(deps, tx, opening)
  const { toDelete } = reconcile ?? {}
  const model = toDelete === undefined ? current.model : toDelete(current, input)
  await markDeleting(deps, tx, row, { ...current, model })
  await recordActivity(tx, {
    at: now,
    initiator,
    action: route.operation,
    target: current.id,
    status: 'Accepted',
    httpStatus: 202,
    operationId: operation.id,
  })
  // A type that answers at once shows what it deletes, also where the deletion takes longer.
  const body = toWire(compiled, shape, current, deps.registry.words)
  const shown = isLongRunning(compiled) ? {} : { body }
  return { status: 202, ...shown, operation: linkOf(operation, compiled) }
}

function onReconciled(below: ResourceRow): never {
  throw refuse.Conflict({ id: below.id })
}

/**
 * Looks at all that goes along before the first of it goes, so that a refusal leaves everything. Outside of transactions,
 * since nothing bounds how many there are; so each is looked at again where it goes.
 */
async function requireOthersMayGo({ deps, route, input }: DeleteRequest): Promise<void> {
  const { store } = deps
  const { principal, query } = input
  const prohibitions = await deps.access.prohibitionsFor?.(principal)
  const inside = insideContextOf(deps, input, deps.clock.now(), store)
  const context = { ...inside, id: route.id, query }
  for await (const id of route.compiled.stored.deletedAlong?.(context) ?? []) {
    await freeTurn(principal.id)
    input.signal?.throwIfAborted()
    const compiled = deps.registry.byKey((await store.get(id.key))?.type ?? '')
    if (compiled === undefined) continue
    await requireMayGo(deps, store, { id, compiled, principal, prohibitions, context })
  }
}

/** Undefined where nothing goes along any more. */
async function removeOthers(
  { deps, route, input, prohibitions, othersMayGo }: CheckedDelete,
  tx: Tx,
  context: DeletionContext,
): Promise<Unfinished | undefined> {
  const { principal } = input
  const initiator = initiatorOf(input)
  let unfinished: Unfinished | undefined
  let left = removalsMax
  for await (const id of route.compiled.stored.deletedAlong?.(context) ?? []) {
    if (!othersMayGo) return 'others'
    unfinished = 'more'
    if (left <= 0) break
    const row = await tx.lock(id.key, 'change')
    const compiled = row && deps.registry.byKey(row.type)
    if (row === undefined || compiled === undefined) continue
    await requireMayGo(deps, tx, { id, compiled, principal, prohibitions, context })
    const { removed, remaining } = await removeBelow(deps, tx, { id, initiator, onReconciled })
    if (remaining > 0) break
    // To look at it takes as much as to remove it.
    left -= removed + 2
    await removeRow(tx, compiled, row)
    await recordActivity(tx, {
      at: deps.clock.now(),
      initiator,
      action: compiled.permissions.delete,
      target: { text: row.id, key: row.key },
      status: 'Succeeded',
    })
  }
  return unfinished
}

interface GoesAlong {
  readonly id: ResourceId
  readonly compiled: CompiledStoredType
  readonly principal: Principal
  readonly prohibitions: Prohibitions | undefined
  readonly context: DeletionContext
}

async function requireMayGo(
  deps: PlaneDependencies,
  reads: Reads,
  { id, compiled, principal, prohibitions, context }: GoesAlong,
): Promise<void> {
  const { words, reader } = context
  const { type } = compiled.stored
  await askGuards(deps.guards, { id, type, effect: 'delete', words, reader })
  await requireNothingForbidden(deps, reads, { id, principal, prohibitions })
}

/** Deny assignments must not forbid the caller what is removed along with it. Costs nothing where there are none. */
export async function requireNothingForbidden(
  deps: PlaneDependencies,
  reads: Reads,
  {
    id,
    principal,
    prohibitions,
  }: {
    readonly id: ResourceId
    readonly principal: Principal
    readonly prohibitions: Prohibitions | undefined
  },
): Promise<void> {
  if (prohibitions === undefined) return
  for await (const row of rowsBelow(deps, reads, id.key)) {
    const action = deps.registry.byKey(row.type)?.permissions.delete
    const scope = idOfKey(row.id)
    const found = action === undefined ? undefined : prohibitions.find({ action, scope })
    if (action !== undefined && found !== undefined) {
      throw prohibitedError({ action, scope }, principal, found)
    }
  }
}

/** Ends work in the background. The resource stays, to show how that goes. */
async function endInstead(
  { deps, route, input }: DeleteRequest,
  tx: Tx,
  current: StoredResource,
  model: unknown,
): Promise<Outcome> {
  const { compiled, shape } = route
  const now = deps.clock.now()
  const next: StoredResource = {
    ...current,
    model,
    systemData: stampSystemData(current.systemData, input.principal, now),
    etag: deps.ids.uuid(),
    generation: current.generation + 1,
  }
  await tx.update(writeRow(compiled, next), current.etag)
  await tx.schedule(current.id.key, now)
  const changes = changesOf(deps, { compiled, version: shape, before: current, after: next })
  await recordActivity(tx, {
    at: now,
    initiator: initiatorOf(input),
    action: route.operation,
    target: current.id,
    status: 'Succeeded',
    httpStatus: 200,
    ...(changes === undefined ? {} : { changes }),
  })
  return {
    status: 200,
    body: toWire(compiled, shape, next, deps.registry.words),
    etag: next.etag,
  }
}

async function markDeleting(
  deps: PlaneDependencies,
  tx: Tx,
  row: ResourceRow,
  current: StoredResource,
): Promise<void> {
  const compiled = deps.registry.byKey(row.type)
  if (compiled === undefined) return
  const marked: StoredResource = {
    ...current,
    state: compiled.reconcile?.states.deleting ?? 'Deleting',
    deleting: true,
    etag: deps.ids.uuid(),
    generation: current.generation + 1,
  }
  await tx.update(writeRow(compiled, marked), row.etag)
  await tx.schedule(row.key, deps.clock.now())
}

async function removeRow(
  tx: Tx,
  compiled: CompiledStoredType | undefined,
  row: ResourceRow,
): Promise<void> {
  await tx.remove(row.key, row.etag)
  await appendToFeed(tx, compiled, row.key)
}

export interface RemovalProgress {
  readonly removed: number
  /** The number of resources left, counted up to a bound; 0 only when nothing is left. */
  readonly remaining: number
}

/**
 * Removes up to a bounded number of resources below a scope in deletion. Those with a reconciler are marked and
 * scheduled, and stay until their engines have removed everything. Does nothing for any other scope: it may have been
 * created again under the same name while a slow worker was on its way.
 */
export async function emptyScope(
  deps: PlaneDependencies,
  id: ResourceId,
  initiator: Initiator,
): Promise<RemovalProgress> {
  const progress = await deps.store.transact(async (tx) => {
    const scope = await tx.lock(id.key, 'share')
    if (scope === undefined || !readRow(scope).deleting) return { removed: 0, remaining: 0 }
    return removeBelow(deps, tx, {
      id,
      initiator,
      async onReconciled(row) {
        const compiled = deps.registry.byKey(row.type)
        const current = readRow(row)
        if (compiled === undefined || current.deleting) return
        const now = deps.clock.now()
        await supersede(tx, row.key, 'delete', now)
        await markDeleting(deps, tx, row, current)
        await recordActivity(tx, {
          at: now,
          initiator,
          action: compiled.permissions.delete,
          target: current.id,
          status: 'Accepted',
        })
      },
    })
  })
  deps.wake()
  return progress
}

interface RemovalBelow {
  readonly id: ResourceId
  readonly initiator: Initiator
  /** The most that may be removed. */
  readonly max?: number
  /** Called for each resource that its reconciler has to remove; it is not removed here. */
  onReconciled(row: ResourceRow): Promise<void> | void
}

export async function removeBelow(
  deps: PlaneDependencies,
  tx: Tx,
  { id, initiator, max = removalsMax, onReconciled }: RemovalBelow,
): Promise<RemovalProgress> {
  let seen = 0
  let removed = 0
  do {
    // Two rows more: one tells whether that is all, one is the scope itself.
    for await (const { key } of rowsBelow(deps, tx, id.key, max - seen + 2)) {
      if (key === id.key || ++seen > max) continue
      const row = await tx.lock(key, 'change')
      if (row === undefined) continue
      const compiled = deps.registry.byKey(row.type)
      if (compiled?.reconcile !== undefined && !isRecordAlone(compiled, row)) {
        await onReconciled(row)
        continue
      }
      await removeRow(tx, compiled, row)
      if (compiled?.reconcile !== undefined) await tx.unschedule(row.key)
      await recordActivity(tx, {
        at: deps.clock.now(),
        initiator,
        action: deleteOf(deps, row),
        target: { text: row.id, key: row.key },
        status: 'Succeeded',
      })
      removed++
    }
    // A child may have been created below a row before that row was locked. Once more is enough: nothing can be
    // created below a removed row.
  } while (seen === removed && (await holdsAny(tx, id.key)))
  return { removed, remaining: seen - removed }
}

/** By the id, since the row has the name of its type in small letters, and of a type that nobody serves no more is known. */
function deleteOf({ registry }: PlaneDependencies, row: ResourceRow): string {
  const last = parseResourceId(row.id)?.segments.at(-1)
  const compiled = last && registry.find(last.namespace, last.types)
  return compiled?.permissions.delete ?? `${row.type}/delete`
}

function isRecordAlone({ reconcile }: CompiledStoredType, row: ResourceRow): boolean {
  const { state, deleting } = readRow(row)
  return reconcile?.leavesNothing === true && !deleting && isTerminalState(state)
}

async function holdsAny(tx: Tx, under: string): Promise<boolean> {
  const rows = await tx.list({ under, limit: 2 })
  return rows.some(({ key }) => key !== under)
}

/** Rows at or below a scope, in chunks bounded in bytes. */
export async function* rowsBelow(
  { limits }: PlaneDependencies,
  reads: Reads,
  under: string,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<ResourceRow> {
  let after: string | undefined
  for (let left = limit; left > 0; ) {
    const query = {
      under,
      ...(after === undefined ? {} : { after }),
      limit: Math.min(left, removalsMax),
      bytesMax: limits.pageBytesMax,
    }
    const rows = await reads.list(query)
    yield* rows
    left -= rows.length
    after = rows.at(-1)?.key
    if (after === undefined || !isCut(rows, query)) return
  }
}
