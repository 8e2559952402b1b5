/**
 * Moves resources and everything below them to another resource group, in one transaction: only their ids change.
 * What is attached without being a part does not come along: role assignments are removed, and a lock prevents the
 * move, as it prevents a DELETE.
 */

import { changesBetween } from '#activity/changes.ts'
import { refuse } from '#kernel/error.ts'
import { isTerminalState } from '#kernel/operation.ts'
import {
  fromSegments,
  parseResourceId,
  type ResourceId,
  resourceGroupOf,
} from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import { transactOptimistically } from '#stores/optimistic.ts'
import type { Optimistic, ResourceRow, Tx } from '#stores/store.ts'
import { type AccessRequest, allowsWithoutAttributes, type Prohibitions } from '../access.ts'
import { initiatorOf, recordActivity } from '../audit.ts'
import {
  appendToFeed,
  type CompiledStoredType,
  type CompiledType,
  permissionOf,
} from '../compiled-type.ts'
import { createReader, idOfKey, type PlaneDependencies } from '../dependencies.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { prohibitedError, refusalOf } from '../grant.ts'
import { askGuards } from '../guard.ts'
import { freeTurn } from '../next-turn.ts'
import type { RunInput } from '../plane.ts'
import { impliedScopes, missingScope } from '../scopes.ts'
import { attachedType, rowsBelow } from './remove-below.ts'
import { busyRefusal } from './write.ts'

export interface MoveRequest {
  /** The current resource group. */
  readonly from: ResourceId
  readonly to: ResourceId
  readonly resources: readonly string[]
  /** Makes all checks and changes nothing. */
  readonly onlyValidate: boolean
}

/** Rows moved in one transaction at most, for all resources together, including those below them. */
const rowsMax = 5000
/** Characters of these rows: each is read, parsed and written again, and others wait for the transaction. */
const charactersMax = 16 * 1024 * 1024

type Caller = Pick<RunInput, 'principal' | 'correlationId' | 'from' | 'signal'>

/** Thrown to roll back a validation. */
class Validated extends Error {}

export async function moveResources(
  deps: PlaneDependencies,
  request: MoveRequest,
  caller: Caller,
): Promise<void> {
  const ids = request.resources.map((text) => topLevelId(request, text))
  const positions = deps.access.asOf?.()
  const ask = async (): Promise<RightsBelow> => {
    await requireRights(deps, request, ids, caller)
    return askRightsBelow(deps, request, ids, caller)
  }
  const work = async (tx: Tx, rights: RightsBelow): Promise<void> => {
    await requireGroups(deps, tx, request)
    const left = mostAtOnce()
    for (const id of ids) {
      await moveOne(deps, tx, { request, id, caller, left, rights })
      // The caller was already told that the request failed, so nothing may be committed.
      caller.signal?.throwIfAborted()
    }
    if (request.onlyValidate) throw new Validated()
  }
  const move = (rights: RightsBelow, mode: Optimistic | undefined): Promise<void> =>
    deps.store.transact((tx) => work(tx, rights), mode)
  const decision = await ask()
  const moved =
    positions === undefined
      ? move(decision, undefined)
      : transactOptimistically({ positions, decision }, ask, move)
  await moved.catch((error: unknown) => {
    if (!(error instanceof Validated)) throw error
  })
  deps.wake()
}

/** The id of a resource directly in the group: what is below it moves with it. */
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

/** Made of the parts: the two spellings of a group's name may have lengths that differ, such as `İ` and its small letter. */
function movedId({ to }: MoveRequest, id: ResourceId): ResourceId {
  return fromSegments([...to.segments, ...id.segments.slice(1)])
}

/**
 * All rights over resources of a type. The mover must have all of them at the source: at the target they may have
 * them anyway, and a move must not give them keys that nobody granted.
 */
function rightsOver(compiled: CompiledType): readonly string[] {
  const actions = Object.entries(compiled.actions).filter(([, action]) => action.open !== true)
  return [
    ...Object.values(compiled.permissions),
    ...actions.map(([name, action]) => permissionOf(compiled, action, name)),
    // Its actions are known only by name, so this one stands for them.
    ...(compiled.findAction === undefined ? [] : [`${compiled.permission}/listKeys/action`]),
  ]
}

type Need = Pick<AccessRequest, 'action' | 'scope'>

function needsOf(request: MoveRequest, id: ResourceId, compiled: CompiledType): readonly Need[] {
  return [
    ...rightsOver(compiled).map((action) => ({ action, scope: id })),
    { action: compiled.permissions.write, scope: movedId(request, id) },
  ]
}

/** Types of what is below without being a row, such as the databases of a server: it is where the resource is. */
function writtenBelow(
  { registry }: PlaneDependencies,
  { key }: CompiledType,
): readonly CompiledType[] {
  return registry.types.filter(
    ({ key: below, stored, verbs }) =>
      stored === undefined &&
      below.startsWith(`${key}/`) &&
      (['put', 'patch', 'delete'] as const).some((verb) => verbs.has(verb)),
  )
}

/** The refusal of the first right that is missing. */
async function refusalAmong(
  deps: PlaneDependencies,
  { principal, signal }: Caller,
  needs: readonly Need[],
): Promise<Error | undefined> {
  const now = deps.clock.now()
  for (const need of needs) {
    await freeTurn(principal.id)
    signal?.throwIfAborted()
    if (await allowsWithoutAttributes(deps.access, { principal, ...need }, now)) continue
    return refusalOf(deps.access, need, principal)
  }
  return undefined
}

/** The rights over what moves along, checked before the transaction, which may use nothing but its own connection. */
interface RightsBelow {
  readonly prohibitions: Prohibitions | undefined
  /** Keyed by the moved resource and the type; undefined where the caller may move them. */
  readonly refusals: ReadonlyMap<string, Error | undefined>
}

async function askRightsBelow(
  deps: PlaneDependencies,
  request: MoveRequest,
  ids: readonly ResourceId[],
  caller: Caller,
): Promise<RightsBelow> {
  const prohibitions = await deps.access.prohibitionsFor?.(caller.principal)
  const refusals = new Map<string, Error | undefined>()
  const left = mostAtOnce()
  for (const id of ids) {
    for await (const row of rowsBelow(deps, deps.store, id.key)) {
      await freeTurn(caller.principal.id)
      // It is refused inside, behind what else may be wrong.
      if (!takes(left, row)) return { prohibitions, refusals }
      const { type } = row
      const key = `${id.key} ${type}`
      const compiled = deps.registry.byKey(type)
      if (compiled === undefined || isLeftBehind(compiled) || refusals.has(key)) continue
      refusals.set(key, await refusalAmong(deps, caller, needsOf(request, id, compiled)))
    }
  }
  return { prohibitions, refusals }
}

/** What may still be moved. */
interface Left {
  rows: number
  characters: number
}

function mostAtOnce(): Left {
  return { rows: rowsMax, characters: charactersMax }
}

/** False where one more is too many, or too much. */
function takes(left: Left, { document }: Pick<ResourceRow, 'document'>): boolean {
  left.rows -= 1
  left.characters -= document.length
  return left.rows >= 0 && left.characters >= 0
}

/** Checks the same for what moves along: each type by its rights, each resource by deny assignments. */
async function requireRightsBelow(
  deps: PlaneDependencies,
  tx: Tx,
  { id, caller, rights: { prohibitions, refusals } }: Moving,
  rows: readonly Place[],
): Promise<void> {
  for (const { key, type } of rows) {
    const compiled = deps.registry.byKey(type)
    if (compiled === undefined) continue
    const isLeft = isLeftBehind(compiled)
    const place = `${id.key} ${type}`
    // Its type was not checked: it was created meanwhile.
    if (!isLeft && !refusals.has(place)) throw refuse.Conflict({ id: id.text })
    const refusal = refusals.get(place)
    if (refusal !== undefined) throw refusal
    if (prohibitions === undefined) continue
    const pause = tx.pause()
    if (pause !== undefined) await pause
    const scope = idOfKey(key)
    for (const action of isLeft ? [compiled.permissions.delete] : rightsOver(compiled)) {
      const found = prohibitions.find({ action, scope })
      if (found !== undefined) throw prohibitedError({ action, scope }, caller.principal, found)
    }
  }
}

/** Checked before anything is read, so that nobody learns what exists. */
async function requireRights(
  deps: PlaneDependencies,
  request: MoveRequest,
  ids: readonly ResourceId[],
  caller: Caller,
): Promise<void> {
  const { registry } = deps
  const group = registry.byName('Resources/subscriptions/resourceGroups')
  const wanted: Need[] = [{ action: group.permissions.write, scope: request.to }]
  for (const id of ids) {
    const last = id.segments.at(-1)
    const compiled = registry.find(last?.namespace, last?.types ?? [])
    if (compiled === undefined) throw refuse.ResourceNotFound({ id: id.text })
    for (const one of [compiled, ...writtenBelow(deps, compiled)]) {
      wanted.push(...needsOf(request, id, one))
    }
  }
  const refusal = await refusalAmong(deps, caller, wanted)
  if (refusal !== undefined) throw refusal
}

async function requireGroups(
  deps: PlaneDependencies,
  tx: Tx,
  { from, to }: MoveRequest,
): Promise<void> {
  if (from.key === to.key) {
    throw refuse.InvalidRequestContent({ reason: 'the target is the group they are in' })
  }
  // Subscriptions before groups, as writes lock them; each in one order, so that two moves in opposite directions
  // cannot deadlock.
  const groups = [from, to].sort((a, b) => (a.key < b.key ? -1 : 1))
  for (const id of [...groups.flatMap(impliedScopes), ...groups]) {
    const row = await tx.lock(id.key, 'share')
    if (row === undefined) throw missingScope(id)
    deps.registry.byKey(row.type)?.stored?.container?.allowsChildren?.(readRow(row))
  }
}

interface Moving {
  readonly request: MoveRequest
  readonly id: ResourceId
  readonly caller: Caller
  readonly left: Left
  readonly rights: RightsBelow
}

type Place = Pick<ResourceRow, 'key' | 'type'>

async function moveOne(deps: PlaneDependencies, tx: Tx, moving: Moving): Promise<void> {
  const { request, id, left } = moving
  const top = await tx.lock(id.key, 'change')
  if (top === undefined) throw refuse.ResourceNotFound({ id: id.text })
  const compiled = deps.registry.byKey(top.type)
  if (compiled === undefined || isLeftBehind(compiled)) {
    throw refuse.ResourceMoveNotSupported({ id: top.id, type: compiled?.wireType ?? top.type })
  }
  const target = movedId(request, id)
  if ((await tx.get(target.key)) !== undefined)
    throw refuse.ResourceMoveConflict({ id: target.text })
  const rows: Place[] = []
  for await (const row of rowsBelow(deps, tx, id.key)) {
    if (!takes(left, row)) throw tooLarge(id, left)
    rows.push({ key: row.key, type: row.type })
  }
  await requireRightsBelow(deps, tx, moving, rows)
  const { type } = compiled.stored
  const { words } = deps.registry
  const reader = createReader(deps, tx)
  await askGuards(deps.guards, { id, type, effect: 'delete', words, reader })
  await askGuards(deps.guards, { id: target, type, effect: 'write', words, reader })
  for (const row of rows) await moveRow(deps, tx, moving, row.key)
  // Created below one of them meanwhile: it would be left without a parent.
  if ((await tx.count({ under: id.key, limit: 1 })) > 0) throw refuse.Conflict({ id: id.text })
  const initiator = initiatorOf(moving.caller)
  const at = deps.clock.now()
  for (const [action, place, changes] of [
    ['delete', id, changesBetween({ id: id.text }, undefined)],
    ['write', target, changesBetween(undefined, { id: target.text, movedFrom: id.text })],
  ] as const) {
    await recordActivity(tx, {
      at,
      initiator,
      action: compiled.permissions[action],
      target: place,
      status: 'Succeeded',
      changes,
    })
  }
}

function tooLarge(id: ResourceId, left: Left): Error {
  const limit = left.rows < 0 ? `${rowsMax} resources` : `${charactersMax} characters`
  return refuse.ResourceMoveTooLarge({ id: id.text, limit })
}

/** Removed by a move. */
function isLeftBehind({ stored }: CompiledStoredType): boolean {
  return stored.type === attachedType
}

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
  if (isLeftBehind(compiled)) {
    await recordActivity(tx, {
      at: deps.clock.now(),
      initiator: initiatorOf(caller),
      action: compiled.permissions.delete,
      target: current.id,
      status: 'Succeeded',
    })
    return
  }
  requireMovable(compiled, current)
  const now = deps.clock.now()
  const next: StoredResource = {
    ...current,
    model: compiled.stored.moved?.(current.model, now) ?? current.model,
    id: movedId(request, current.id),
    systemData: stampSystemData(current.systemData, caller.principal, now),
    etag: deps.ids.uuid(),
    generation: current.generation + 1,
  }
  await tx.insert(writeRow(compiled, next))
  await appendToFeed(tx, compiled, next.id.key)
  if (compiled.reconcile !== undefined) await tx.schedule(next.id.key, now)
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
