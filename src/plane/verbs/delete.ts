/**
 * DELETE. A type without a reconciler goes at once, with all that hangs below it; one with a reconciler is
 * marked, and goes when its engine has nothing left of it. `emptyScope` is the same for a whole group.
 */

import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { ResourceRow, Tx } from '#stores/store.ts'
import { readRow, type StoredResource, show, writeRow } from '../document.ts'
import type { LocatedRoute } from '../locate.ts'
import { linkOf, openOperation, readOperation } from '../operations.ts'
import { contextOf, type Parts, recordEvent, type Trail } from '../parts.ts'
import type { Outcome, RunInput } from '../plane.ts'
import type { CompiledType } from '../registry.ts'
import { impliedScopes } from '../scopes.ts'
import { checkName } from './write.ts'

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
  const { declaration } = compiled
  if (declaration.reconcile === undefined) await removeBelow(parts, id, input)
  const outcome = await parts.store.transact(async (tx): Promise<Outcome> => {
    const now = parts.clock.now()
    const trail = { principal: input.principal, correlationId: input.correlationId }
    for (const scope of impliedScopes(id)) {
      const row = await tx.lock(scope.key, 'share')
      const type = row === undefined ? undefined : parts.registry.byKey(row.type)
      // A group on its way out lets its members be deleted; a disabled subscription does not.
      if (row !== undefined && !readRow(row).deleting)
        type?.declaration.allowsChildren?.(readRow(row))
    }
    const row = await tx.lock(id.key, 'change')
    if (row === undefined) return { status: 204 }
    const current = readRow(row)
    const verdict = checkPreconditions('DELETE', input.preconditions, current.etag)
    const mustMatch = declaration.ifMatchRequired?.includes('delete') === true
    if (verdict.kind === 'failed' || (mustMatch && input.preconditions.ifMatch === undefined)) {
      const header = verdict.kind === 'failed' ? verdict.header : 'If-Match'
      throw refuse.PreconditionFailed({ header, id: id.text })
    }
    await declaration.deleteRules?.({ ...contextOf(parts, input, now, tx), resource: current })
    if (declaration.reconcile !== undefined) {
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
        now,
        resultStatus: 204,
      })
      await markDeleting(parts, tx, compiled, row, current, now)
      await recordEvent(tx, now, trail, id.key, route.action, operation.id)
      return { status: 202, operation: linkOf(operation, compiled) }
    }
    await removeRow(tx, compiled, row)
    await recordEvent(tx, now, trail, id.key, route.action, null)
    return { status: 200, body: show(compiled, version, current, parts.registry.words) }
  })
  if (outcome.operation !== undefined) parts.wake()
  return outcome
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

/** Everything below a synchronous resource goes before it; what has an engine must be deleted first. */
async function removeBelow(parts: Parts, id: ResourceId, trail: Trail): Promise<void> {
  for (;;) {
    const { removed, remaining } = await sweepBelow(parts, id, trail, (row) => {
      throw refuse.Conflict({ id: row.id })
    })
    if (remaining === 0 || removed === 0) return
  }
}

/**
 * Removes up to a bounded number of resources below a scope; those with a reconciler are marked and
 * scheduled. `remaining` counts what is still there, up to the same bound.
 */
export async function emptyScope(
  parts: Parts,
  id: ResourceId,
  trail: Trail,
): Promise<{ readonly remaining: number }> {
  const { remaining } = await sweepBelow(parts, id, trail, async (row, tx) => {
    const compiled = parts.registry.byKey(row.type)
    const current = readRow(row)
    if (compiled === undefined || current.deleting) return
    await markDeleting(parts, tx, compiled, row, current, parts.clock.now())
    await recordEvent(tx, parts.clock.now(), trail, row.key, `${compiled.permission}/delete`, null)
  })
  parts.wake()
  return { remaining }
}

async function sweepBelow(
  parts: Parts,
  id: ResourceId,
  trail: Trail,
  whenEngined: (row: ResourceRow, tx: Tx) => Promise<void> | void,
): Promise<{ readonly removed: number; readonly remaining: number }> {
  const swept = await parts.store.transact(async (tx) => {
    const rows = await tx.list({ under: id.key, limit: removalsMax + 1 })
    let removed = 0
    for (const row of rows) {
      if (row.key === id.key) continue
      const compiled = parts.registry.byKey(row.type)
      if (compiled?.declaration.reconcile !== undefined) {
        await whenEngined(row, tx)
        continue
      }
      const locked = await tx.lock(row.key, 'change')
      if (locked === undefined) continue
      await removeRow(tx, compiled, locked)
      const action = `${compiled?.permission ?? row.type}/delete`
      await recordEvent(tx, parts.clock.now(), trail, row.key, action, null)
      removed++
    }
    return { removed, seen: rows.filter((row) => row.key !== id.key).length }
  })
  return { removed: swept.removed, remaining: swept.seen - swept.removed }
}
