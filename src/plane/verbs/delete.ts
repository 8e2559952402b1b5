/**
 * DELETE. A resource without long-running work is removed at once with everything below it. One with such work is
 * marked, and removed when its engine has nothing left of it. `emptyScope` does the same for a whole group.
 */

import { changesBetween } from '#activity/changes.ts'
import type { Initiator } from '#activity/record.ts'
import { type ApiError, refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import type { ResourceRow, Tx } from '#stores/store.ts'
import { noAttributes } from '../access.ts'
import { attributesOf, describedRow } from '../attributes.ts'
import { changesOf, initiatorOf, recordActivity } from '../audit.ts'
import { isLongRunning } from '../compiled-type.ts'
import { insideContextOf, type PlaneDependencies } from '../dependencies.ts'
import { readRow, type StoredResource, toWire, writeRow } from '../document.ts'
import { requireGrant } from '../grant.ts'
import { askGuards } from '../guard.ts'
import type { WriteRoute } from '../locate.ts'
import { linkOf, openOperation, readOperation, supersede } from '../operations.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { checkName, impliedScopes, refuseMissingScope } from '../scopes.ts'
import { transactFor, transactOn } from '../transact-on.ts'
import { answerOf, declaredDelete, endedOperation } from './declared-answer.ts'
import { type DeleteRequest, GoesAlong, type Unfinished } from './goes-along.ts'
import { pollUntilFound } from './poll-until-found.ts'
import {
  onReconciled,
  type RemovalProgress,
  removalCharactersMax,
  removeBelow,
  removeRow,
  requireNothingForbidden,
} from './remove-below.ts'
import { askRightsToDelete, type RightsBefore } from './rights-before.ts'
import { type LookBelow, lookBelow, lookBelowInTurn, rightBelowMissing } from './rights-below.ts'

/**
 * Rights and memberships may change so often while what is below is looked at. The last look counts all the same: where they
 * change more often than it takes, it would never be done.
 */
const looksMax = 5

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
  const others = new GoesAlong(request)
  let looked: LookBelow | undefined
  let looks = 0
  const isAlone = route.compiled.stored.feed !== undefined
  do {
    await others.prepare()
    outcome = await transactFor(deps, route.compiled, {
      input: { ...input, rightsAsOf },
      // Not inside: the answer may need another connection, and requests holding all of them may wait for this row.
      open: async (input) => {
        const { principal } = input
        const may = await askRightsToDelete(deps, route, principal)
        const look = isAlone ? lookBelowInTurn : lookBelow
        const below = looks < looksMax ? await look(deps, route.id, principal, looked) : looked
        const used = await route.compiled.stored.usedBy?.(others.context())
        return { below, opened: { ...request, input, may, used, others } }
      },
      inside: async ({ below, opened }, tx) =>
        below === undefined ? 'below' : deleteInside({ ...opened, ...below }, tx),
    })
    if (outcome === 'others') await others.look()
    if (outcome === 'below') {
      looked = await lookBelow(deps, route.id, input.principal)
      looks++
    }
    // The caller's own right may be among what went: what has begun is finished.
    if (outcome === 'more') [rightsAsOf, looks] = [undefined, 0]
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

interface CheckedDelete extends DeleteRequest, LookBelow {
  readonly may: RightsBefore['may']
  readonly used: ApiError | undefined
  readonly others: GoesAlong
}

async function deleteInside(request: CheckedDelete, tx: Tx): Promise<Outcome | Unfinished> {
  const { deps, route, input, prohibitions, may, missingBelow, forbidden, used, others } = request
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
  if (used !== undefined) throw used
  const { principal } = input
  if (forbidden.refusal !== undefined) throw forbidden.refusal
  if (!forbidden.isLarge) await requireNothingForbidden(deps, tx, { id, principal, prohibitions })
  if (missingBelow !== undefined) throw rightBelowMissing(deps, missingBelow, principal)
  const ordered = reconcile?.background?.endInstead?.(current)
  if (ordered !== undefined) return endInstead(request, tx, current, ordered)
  const opening = {
    id: current.id,
    compiled,
    kind: 'delete',
    version: route.version,
    principal,
    correlationId: input.correlationId,
    action: route.operation,
    now,
    resultStatus: 204,
  } as const
  if (!isLongRunning(compiled) && reconcile?.background?.leavesSomething?.(current) !== true) {
    const unfinished = await others.remove(tx, { ...context, resource: current }, prohibitions)
    if (unfinished !== undefined) return unfinished
    const charactersMax = removalCharactersMax
    const below = { id, initiator, onReconciled, charactersMax }
    const { remaining } = await removeBelow(deps, tx, below)
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

/**
 * Removes up to a bounded number of resources below a scope in deletion, in several transactions where their documents
 * are large. Those with a reconciler are marked and scheduled, and stay until their engines have removed everything. Does
 * nothing for any other scope: it may have been created again under the same name while a slow worker was on its way.
 */
export async function emptyScope(
  deps: PlaneDependencies,
  id: ResourceId,
  initiator: Initiator,
): Promise<RemovalProgress> {
  let removed = 0
  let remaining = 0
  let after: string | undefined
  do {
    const progress = await emptyPart(deps, id, { initiator, after })
    after = progress.cutAt
    removed += progress.removed
    // What follows is counted when it is looked at.
    remaining += after === undefined ? progress.remaining : progress.remaining - 1
  } while (after !== undefined)
  deps.wake()
  return { removed, remaining }
}

async function emptyPart(
  deps: PlaneDependencies,
  id: ResourceId,
  { initiator, after }: { readonly initiator: Initiator; readonly after: string | undefined },
): Promise<RemovalProgress> {
  return transactOn(deps, { stored: undefined }, async (tx) => {
    const scope = await tx.lock(id.key, 'share')
    if (scope === undefined || !readRow(scope).deleting) return { removed: 0, remaining: 0 }
    return removeBelow(deps, tx, {
      id,
      initiator,
      after,
      charactersMax: removalCharactersMax,
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
}
