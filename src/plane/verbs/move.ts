/**
 * Moves resources with all that is below them to another resource group, in one transaction: their ids change, what they
 * are does not. What hangs on a resource and is no part of it does not come along: role assignments are removed, and a
 * lock stands in the way, as it does of a DELETE.
 */

import { changesBetween } from '#activity/changes.ts'
import { refuse } from '#kernel/error.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { parseResourceId, type ResourceId, resourceGroupOf } from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import type { ResourceRow, Tx } from '#stores/store.ts'
import { initiatorOf, recordActivity } from '../audit.ts'
import { appendToFeed, type CompiledStoredType } from '../compiled-type.ts'
import { contextOf, createReader, type PlaneDependencies } from '../dependencies.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { authorizationFailed, refusalOf } from '../grant.ts'
import { askGuards } from '../guard.ts'
import type { RunInput } from '../plane.ts'
import { missingScope } from '../scopes.ts'
import { busyRefusal } from './write.ts'

export interface MoveRequest {
  /** The resource group they are in. */
  readonly from: ResourceId
  readonly to: ResourceId
  readonly resources: readonly string[]
  /** Everything is checked, and nothing is done. */
  readonly onlyValidate: boolean
}

/** Rows moved at once at the most: what hangs below counts. */
const rowsMax = 5000

type Caller = Pick<RunInput, 'principal' | 'correlationId' | 'from'>

/** Thrown to take back what was tried. */
class Validated extends Error {}

export async function moveResources(
  deps: PlaneDependencies,
  request: MoveRequest,
  caller: Caller,
): Promise<void> {
  const ids = request.resources.map((text) => topLevelId(request, text))
  await requireRights(deps, request, ids, caller)
  const work = async (tx: Tx): Promise<void> => {
    await requireGroups(deps, tx, request)
    for (const id of ids) await moveOne(deps, tx, { request, id, caller })
    if (request.onlyValidate) throw new Validated()
  }
  await deps.store.transact(work).catch((error: unknown) => {
    if (!(error instanceof Validated)) throw error
  })
  deps.wake()
}

/** A resource directly in the group: what is below one comes along by itself. */
function topLevelId({ from }: MoveRequest, text: string): ResourceId {
  const id = parseResourceId(text)
  const [, ...rest] = id?.segments ?? []
  const isTop = rest.length === 1 && rest[0]?.types.length === 1
  if (id === undefined || !isTop || !id.key.startsWith(`${from.key}/providers/`)) {
    throw refuse.InvalidRequestContent({
      reason: `'${text.slice(0, 200)}' is no resource directly in the group '${from.text}'`,
    })
  }
  return id
}

function movedId({ from, to }: MoveRequest, id: ResourceId): ResourceId {
  const moved = parseResourceId(`${to.text}${id.text.slice(from.text.length)}`)
  if (moved === undefined) throw new Error(`no id after the move: ${id.text}`)
  return moved
}

/** Who moves something may write it here and there. */
async function requireRights(
  deps: PlaneDependencies,
  request: MoveRequest,
  ids: readonly ResourceId[],
  caller: Caller,
): Promise<void> {
  const { may } = contextOf(deps, caller, deps.clock.now(), deps.store)
  const { registry } = deps
  const group = registry.byName('Resources/subscriptions/resourceGroups')
  const wanted = [{ action: group.permissions.write, scope: request.to }]
  for (const id of ids) {
    const last = id.segments.at(-1)
    const compiled = registry.find(last?.namespace, last?.types ?? [])
    if (compiled === undefined) throw refuse.ResourceNotFound({ id: id.text })
    for (const scope of [id, movedId(request, id)]) {
      wanted.push({ action: compiled.permissions.write, scope })
    }
    wanted.push({ action: compiled.permissions.delete, scope: id })
  }
  for (const need of wanted) {
    const plain = need.action.slice(registry.words.namespace.length + 1)
    if (!(await may(plain, need.scope))) {
      throw deps.access.prohibitionsFor === undefined
        ? authorizationFailed(need, caller.principal)
        : await refusalOf(deps.access, need, caller.principal)
    }
  }
}

async function requireGroups(
  deps: PlaneDependencies,
  tx: Tx,
  { from, to }: MoveRequest,
): Promise<void> {
  if (from.key === to.key) {
    throw refuse.InvalidRequestContent({ reason: 'the target is the group they are in' })
  }
  // In one order, so that two moves in opposite directions do not wait for each other.
  for (const id of [from, to].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const row = await tx.lock(id.key, 'share')
    if (row === undefined) throw missingScope(id)
    deps.registry.byKey(row.type)?.stored?.container?.allowsChildren?.(readRow(row))
  }
}

interface Moving {
  readonly request: MoveRequest
  readonly id: ResourceId
  readonly caller: Caller
}

async function moveOne(deps: PlaneDependencies, tx: Tx, moving: Moving): Promise<void> {
  const { request, id } = moving
  if ((await tx.get(id.key)) === undefined) throw refuse.ResourceNotFound({ id: id.text })
  const target = movedId(request, id)
  if ((await tx.get(target.key)) !== undefined)
    throw refuse.ResourceMoveConflict({ id: target.text })
  const rows = await tx.list({ under: id.key, limit: rowsMax + 1 })
  if (rows.length > rowsMax) throw refuse.ResourceMoveTooLarge({ id: id.text, limit: rowsMax })
  const type = deps.registry.byKey(rows[0]?.type ?? '')?.stored?.type ?? ''
  const { words } = deps.registry
  const reader = createReader(deps, tx)
  await askGuards(deps.guards, { id, type, effect: 'delete', words, reader })
  await askGuards(deps.guards, { id: target, type, effect: 'write', words, reader })
  for (const row of rows) await moveRow(deps, tx, moving, row.key)
  const initiator = initiatorOf(moving.caller)
  const at = deps.clock.now()
  for (const [action, place, changes] of [
    ['delete', id, changesBetween({ id: id.text }, undefined)],
    ['write', target, changesBetween(undefined, { id: target.text, movedFrom: id.text })],
  ] as const) {
    const compiled = deps.registry.byKey(rows[0]?.type ?? '')
    await recordActivity(tx, {
      at,
      initiator,
      action: compiled?.permissions[action] ?? action,
      target: place,
      status: 'Succeeded',
      changes,
    })
  }
}

/** Types that hang on a resource without being a part of it, and end where it was. */
const leftBehind = new Set(['Authorization/roleAssignments'])

async function moveRow(
  deps: PlaneDependencies,
  tx: Tx,
  { request, caller }: Moving,
  key: string,
): Promise<void> {
  const row = await tx.lock(key, 'change')
  if (row === undefined) return
  const compiled = deps.registry.byKey(row.type)
  const current = readRow(row)
  if (compiled === undefined || resourceGroupOf(current.id) === undefined) {
    throw refuse.ResourceMoveNotSupported({ id: row.id, type: compiled?.wireType ?? row.type })
  }
  await removeAt(tx, compiled, row)
  if (leftBehind.has(compiled.stored.type)) return
  requireMovable(compiled, current)
  const next: StoredResource = {
    ...current,
    id: movedId(request, current.id),
    systemData: stampSystemData(current.systemData, caller.principal, deps.clock.now()),
    etag: deps.ids.uuid(),
    generation: current.generation + 1,
  }
  await tx.insert(writeRow(compiled, next))
  await appendToFeed(tx, compiled, next.id.key)
  if (compiled.reconcile !== undefined) await tx.schedule(next.id.key, deps.clock.now())
}

async function removeAt(tx: Tx, compiled: CompiledStoredType, row: ResourceRow): Promise<void> {
  await tx.remove(row.key, row.etag)
  await appendToFeed(tx, compiled, row.key)
  if (compiled.reconcile !== undefined) await tx.unschedule(row.key)
}

function requireMovable(compiled: CompiledStoredType, current: StoredResource): void {
  const { movable } = compiled.stored
  const isMovable = typeof movable === 'function' ? movable(current) : movable === true
  if (!isMovable) {
    throw refuse.ResourceMoveNotSupported({ id: current.id.text, type: compiled.wireType })
  }
  if (current.deleting || !isTerminalState(current.state)) throw busyRefusal(compiled, current)
}
