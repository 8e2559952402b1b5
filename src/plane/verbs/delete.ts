/**
 * DELETE. A type without long-running work goes at once, with all that hangs below it; one that has some is
 * marked, and goes when its engine has nothing left of it. `emptyScope` is the same for a whole group.
 */

import { changesBetween } from '#activity/changes.ts'
import type { Trail } from '#activity/record.ts'
import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import type { ResourceRow, Tx } from '#stores/store.ts'
import { noAttributes } from '../access.ts'
import { attributesOf, describedRow } from '../attributes.ts'
import { isLongRunning, type Version } from '../define.ts'
import { readRow, type StoredResource, show, writeRow } from '../document.ts'
import { askGuards } from '../guard.ts'
import type { LocatedRoute } from '../locate.ts'
import { linkOf, openOperation, readOperation, supersede } from '../operations.ts'
import { contextOf, type Parts } from '../parts.ts'
import { requireGrant } from '../permit.ts'
import type { Outcome, RunInput } from '../plane.ts'
import type { CompiledType } from '../registry.ts'
import { checkName, impliedScopes } from '../scopes.ts'
import { changesOf, recordActivity, trailOf } from '../trail.ts'

/** Rows removed in one transaction at the most. */
const removalsMax = 200

export async function runDelete(
  parts: Parts,
  route: LocatedRoute,
  input: RunInput,
): Promise<Outcome> {
  const { compiled, id } = route
  const version = compiled?.versions.get(route.version)
  if (compiled === undefined || version === undefined) {
    throw new Error(`the route of ${id.text} carries no shape`)
  }
  checkName(compiled, id)
  const request: DeleteRequest = { parts, route, compiled, version, input }
  // What hangs below goes in bounded transactions, each with all checks made anew.
  let outcome: Outcome | undefined
  do {
    outcome = await parts.store.transact((tx) => deleteInside(request, tx))
  } while (outcome === undefined)
  if (compiled.declaration.reconcile !== undefined) parts.wake()
  return outcome
}

interface DeleteRequest {
  readonly parts: Parts
  readonly route: LocatedRoute
  readonly compiled: CompiledType
  readonly version: Version<unknown>
  readonly input: RunInput
}

/** Undefined when there was more below than one transaction removes. */
async function deleteInside(request: DeleteRequest, tx: Tx): Promise<Outcome | undefined> {
  const { parts, route, compiled, version, input } = request
  const { declaration } = compiled
  const { id } = route
  const now = parts.clock.now()
  const trail = trailOf(input)
  for (const scope of impliedScopes(id)) {
    const row = await tx.lock(scope.key, 'share')
    const type = row === undefined ? undefined : parts.registry.byKey(row.type)
    // A group on its way out lets its members be deleted; a disabled subscription does not.
    if (row !== undefined && !readRow(row).deleting)
      type?.declaration.allowsChildren?.(readRow(row))
  }
  const row = await tx.lock(id.key, 'change')
  requireGrant(route, input, () => ({
    now,
    request: noAttributes,
    resource: attributesOf(parts, compiled, row && describedRow(row)),
  }))
  const asked = { ...contextOf(parts, input, now, tx), id, requested: route.scope }
  if (row === undefined) {
    await declaration.deleteRules?.({ ...asked, resource: undefined })
    return { status: 204 }
  }
  const current = readRow(row)
  const verdict = checkPreconditions('DELETE', input.preconditions, current.etag)
  const mustMatch = declaration.ifMatchRequired?.includes('delete') === true
  if (verdict.kind === 'failed' || (mustMatch && input.preconditions.ifMatch === undefined)) {
    const header = verdict.kind === 'failed' ? verdict.header : 'If-Match'
    throw refuse.PreconditionFailed({ header, id: id.text })
  }
  const { reader, words } = asked
  await askGuards(parts.guards, { id, type: declaration.type, effect: 'delete', words, reader })
  await declaration.deleteRules?.({ ...asked, resource: current })
  const ordered = declaration.reconcile?.background?.endInstead?.(current)
  if (ordered !== undefined) return endInstead(request, tx, current, ordered)
  if (!isLongRunning(declaration)) {
    const { remaining } = await sweepBelow(parts, tx, id, trail, (below) => {
      throw refuse.Conflict({ id: below.id })
    })
    if (remaining > 0) return undefined
    await removeRow(tx, compiled, row)
    if (declaration.reconcile !== undefined) await tx.unschedule(row.key)
    const shown = show(compiled, version, current, parts.registry.words)
    await recordActivity(tx, {
      at: now,
      trail,
      action: route.operation,
      target: current.id,
      status: 'Succeeded',
      httpStatus: 200,
      changes: changesBetween(shown, undefined),
    })
    return { status: 200, body: shown }
  }
  if (current.deleting) {
    const running = await tx.runningOperation(id.key)
    const link = running === undefined ? undefined : linkOf(readOperation(running), compiled)
    return { status: 202, ...(link === undefined ? {} : { operation: link }) }
  }
  const operation = await openOperation(parts, tx, {
    id: current.id,
    compiled,
    kind: 'delete',
    version: route.version,
    principal: input.principal,
    correlationId: input.correlationId,
    action: route.operation,
    now,
    resultStatus: 204,
  })
  await markDeleting(parts, tx, compiled, row, current, now)
  await recordActivity(tx, {
    at: now,
    trail,
    action: route.operation,
    target: current.id,
    status: 'Accepted',
    httpStatus: 202,
    operationId: operation.id,
  })
  return { status: 202, operation: linkOf(operation, compiled) }
}

/** Work in the background is told to end; the resource stays, to show how that goes. */
async function endInstead(
  { parts, compiled, version, route, input }: DeleteRequest,
  tx: Tx,
  current: StoredResource,
  model: unknown,
): Promise<Outcome> {
  const now = parts.clock.now()
  const next: StoredResource = {
    ...current,
    model,
    systemData: stampSystemData(current.systemData, input.principal, now),
    etag: parts.ids.uuid(),
    generation: current.generation + 1,
  }
  await tx.update(writeRow(compiled, next), current.etag)
  await tx.schedule(current.id.key, now)
  const changes = changesOf(parts, { compiled, version, before: current, after: next })
  await recordActivity(tx, {
    at: now,
    trail: trailOf(input),
    action: route.operation,
    target: current.id,
    status: 'Succeeded',
    httpStatus: 200,
    ...(changes === undefined ? {} : { changes }),
  })
  return { status: 200, body: show(compiled, version, next, parts.registry.words), etag: next.etag }
}

async function markDeleting(
  parts: Parts,
  tx: Tx,
  compiled: CompiledType,
  row: ResourceRow,
  current: StoredResource,
  now: number,
): Promise<void> {
  const marked: StoredResource = {
    ...current,
    state: compiled.declaration.reconcile?.states.deleting ?? 'Deleting',
    deleting: true,
    etag: parts.ids.uuid(),
    generation: current.generation + 1,
  }
  await tx.update(writeRow(compiled, marked), row.etag)
  await tx.schedule(row.key, now)
}

async function removeRow(
  tx: Tx,
  compiled: CompiledType | undefined,
  row: ResourceRow,
): Promise<void> {
  await tx.remove(row.key, row.etag)
  const feed = compiled?.declaration.feed
  if (feed !== undefined) await tx.follow(feed, row.key)
}

export interface Swept {
  readonly removed: number
  /** What is still there, counted up to a bound; 0 only when nothing is. */
  readonly remaining: number
}

/**
 * Removes up to a bounded number of resources below a scope that is being deleted; those with a reconciler
 * are marked and scheduled, and remain until their engines have let go. Of any other scope nothing is taken:
 * a worker that comes this late looked at one that is gone, and another may have its name.
 */
export async function emptyScope(parts: Parts, id: ResourceId, trail: Trail): Promise<Swept> {
  const swept = await parts.store.transact(async (tx) => {
    const scope = await tx.lock(id.key, 'share')
    if (scope === undefined || !readRow(scope).deleting) return { removed: 0, remaining: 0 }
    return sweepBelow(parts, tx, id, trail, async (row) => {
      const compiled = parts.registry.byKey(row.type)
      const current = readRow(row)
      if (compiled === undefined || current.deleting) return
      const now = parts.clock.now()
      await supersede(tx, row.key, 'delete', now)
      await markDeleting(parts, tx, compiled, row, current, now)
      await recordActivity(tx, {
        at: now,
        trail,
        action: `${compiled.permission}/delete`,
        target: current.id,
        status: 'Accepted',
      })
    })
  })
  parts.wake()
  return swept
}

async function sweepBelow(
  parts: Parts,
  tx: Tx,
  id: ResourceId,
  trail: Trail,
  whenEngined: (row: ResourceRow) => Promise<void> | void,
): Promise<Swept> {
  // One more than is removed, to know whether that is all, and one for the scope itself.
  const listed = await tx.list({ under: id.key, limit: removalsMax + 2 })
  const rows = listed.filter((row) => row.key !== id.key)
  let removed = 0
  for (const { key } of rows.slice(0, removalsMax)) {
    const row = await tx.lock(key, 'change')
    if (row === undefined) continue
    const compiled = parts.registry.byKey(row.type)
    if (compiled?.declaration.reconcile !== undefined) {
      await whenEngined(row)
      continue
    }
    await removeRow(tx, compiled, row)
    await recordActivity(tx, {
      at: parts.clock.now(),
      trail,
      action: `${compiled?.permission ?? row.type}/delete`,
      target: { text: row.id, key: row.key },
      status: 'Succeeded',
    })
    removed++
  }
  return { removed, remaining: rows.length - removed }
}
