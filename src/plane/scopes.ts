/**
 * The scopes of a resource: they must exist, and allow writes, before anything is written below them. With
 * `ARMATURE_SCOPES=implicit`, a write of a caller who may write at the root creates missing ones in the same
 * transaction.
 */

import type { Initiator } from '#activity/record.ts'
import { type ApiError, refuse } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import {
  fromSegments,
  nameOf,
  parentOf,
  type ResourceId,
  resourceGroupIdOf,
  resourceGroupOf,
  rootId,
  subscriptionIdOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import type { Lock, Reads, ResourceRow, Tx } from '#stores/store.ts'
import { allowsWithoutAttributes, asKnown } from './access.ts'
import { recordActivity } from './audit.ts'
import { type CompiledStoredType, isStored } from './compiled-type.ts'
import type { NameRule } from './declare/wire.ts'
import type { PlaneDependencies } from './dependencies.ts'
import { readRow, type StoredResource, writeRow } from './document.ts'
import type { RunInput } from './plane.ts'

/** The subscription and group above an id (not the id itself), outermost first. */
export function impliedScopes(id: ResourceId): readonly ResourceId[] {
  const subscription = subscriptionOf(id)
  if (subscription === undefined) return []
  const scopes = scopesNamed(subscription, resourceGroupOf(id))
  return id.segments.length > 1 ? scopes : scopes.filter((scope) => scope.key !== id.key)
}

/** The last ones: resources that are written together mostly lie in one group. */
let lastScopes: readonly ResourceId[] = []

function scopesNamed(subscription: string, group: string | undefined): readonly ResourceId[] {
  const [first, second] = lastScopes
  const isLast =
    first !== undefined &&
    nameOf(first) === subscription &&
    (second === undefined ? undefined : nameOf(second)) === group
  if (isLast) return lastScopes
  lastScopes = [
    subscriptionIdOf(subscription),
    ...(group === undefined ? [] : [resourceGroupIdOf(subscription, group)]),
  ]
  return lastScopes
}

/** The refusal for a missing scope. */
export function missingScope(scope: ResourceId): ApiError {
  const group = resourceGroupOf(scope)
  if (group !== undefined && scope.segments.length === 1) {
    return refuse.ResourceGroupNotFound({ name: group })
  }
  return refuse.SubscriptionNotFound({ id: subscriptionOf(scope) ?? nameOf(scope) })
}

const scopeTypes = new Set(['subscriptions', 'subscriptions/resourceGroups'])

/** 404 for the first scope above `id` (itself included when `self`) that does not exist. */
export async function requireScopes(reads: Reads, id: ResourceId, self: boolean): Promise<void> {
  const scopes = [...impliedScopes(id)]
  // An implied path may continue below a scope (`…/deployments/{name}`). Its end is then no scope.
  const isScope = id.segments.length === 1 && id.segments[0]?.namespace === undefined
  const below = scopeTypes.has(id.segments[0]?.types.join('/') ?? '')
  if (self && isScope && below) scopes.push(id)
  for (const scope of scopes) {
    if ((await reads.get(scope.key)) === undefined) throw missingScope(scope)
  }
}

/**
 * Whether the caller may create missing scopes. Checked before the transaction, which may use nothing but its own
 * connection. A write that is taken back if rights change before it is committed goes by what is known.
 */
export async function mayCreateScopes(
  deps: PlaneDependencies,
  {
    principal,
    authorizeAgain,
    rightsAsOf,
  }: Pick<RunInput, 'principal' | 'authorizeAgain' | 'rightsAsOf'>,
): Promise<boolean> {
  if (deps.scopes === 'declared') return false
  const { permissions } = deps.registry.byName('Resources/subscriptions/resourceGroups')
  const question = { principal, action: permissions.write, scope: rootId }
  const isCompared = authorizeAgain !== undefined && rightsAsOf !== undefined
  const access = isCompared ? asKnown(deps.access) : deps.access
  return allowsWithoutAttributes(access, question, deps.clock.now())
}

/**
 * Throws the refusal of a scope above `id` whose state forbids writes. One in deletion does not: what is in it may still
 * be stopped and deleted.
 */
export async function requireWritableScopes(
  deps: PlaneDependencies,
  reads: Reads,
  id: ResourceId,
): Promise<void> {
  for (const scope of impliedScopes(id)) {
    const row = await reads.get(scope.key)
    if (row === undefined) continue
    const resource = readShared(row)
    if (!resource.deleting) scopeType(deps, scope).stored.container?.allowsChildren?.(resource)
  }
}

interface ScopeWrite {
  readonly principal: Principal
  readonly initiator: Initiator
  readonly now: number
  readonly mayCreate: boolean
}

/**
 * Locks the scopes above `id` against change and returns the innermost. Throws the 404 of a missing one
 * and the refusals of the scopes themselves (disabled, being deleted).
 */
export async function lockScopes(
  deps: PlaneDependencies,
  tx: Tx,
  id: ResourceId,
  write: ScopeWrite,
): Promise<StoredResource | undefined> {
  let innermost: StoredResource | undefined
  for (const scope of impliedScopes(id)) {
    const row = await tx.lock(scope.key, 'share')
    const compiled = scopeType(deps, scope)
    innermost = row === undefined ? await createScope(deps, tx, scope, write) : readShared(row)
    compiled.stored.container?.allowsChildren?.(innermost)
  }
  return innermost
}

/**
 * Begins the locks of a write at once, in the order in which `lockScopes`, `lockParent` and the write itself take them.
 * What is nested takes its own lock after its parent's, and which that is may depend on what is found. True if the
 * resource's own lock is among them.
 */
export function lockAhead(deps: PlaneDependencies, tx: Tx, id: ResourceId): boolean {
  if (tx.lockAhead === undefined) return false
  const parent = parentOf(id)
  const above = [...impliedScopes(id), ...slowAncestors(deps, parent)]
  const locks = above.map(({ key }): Lock => ({ key, mode: 'share' }))
  const isNested =
    (id.segments.at(-1)?.types.length ?? 0) > 1 || parent.segments.at(-1)?.namespace !== undefined
  tx.lockAhead(isNested ? locks : [...locks, { key: id.key, mode: 'change' }])
  return !isNested
}

/** Writes of one plan share scopes and parents; the store returns the same row object until it changes. */
const rowsRead = new WeakMap<ResourceRow, StoredResource>()

function readShared(row: ResourceRow): StoredResource {
  const known = rowsRead.get(row)
  if (known !== undefined) return known
  const resource = readRow(row)
  rowsRead.set(row, resource)
  return resource
}

/**
 * Locks the stored parent of a nested resource, or throws its 404. Nothing above it may be in deletion. `mayCreate`
 * is the answer of `mayCreateScopes`.
 */
export async function lockParent(
  deps: PlaneDependencies,
  tx: Tx,
  id: ResourceId,
  mayCreate: boolean,
): Promise<void> {
  const parent = parentOf(id)
  for (const above of slowAncestors(deps, parent)) {
    const row = await tx.lock(above.key, 'share')
    if (row !== undefined) requireStaying(readShared(row))
  }
  await lockDirectParent({ deps, tx, mayCreate }, id, parent)
}

/** The last ones, of one table of types: siblings are mostly written together. */
let lastSlow: {
  readonly registry: object
  readonly key: string
  readonly found: readonly ResourceId[]
} = { registry: {}, key: '', found: [] }

/** Ancestors whose deletion takes time; outermost first, the order in which deletions lock. */
function slowAncestors({ registry }: PlaneDependencies, id: ResourceId): readonly ResourceId[] {
  if (lastSlow.registry === registry && lastSlow.key === id.key) return lastSlow.found
  const found: ResourceId[] = []
  // Most types are not slow, so ids are made only of those that are.
  for (let at = id.segments.length - 1; at >= 0; at--) {
    const segment = id.segments[at]
    if (segment?.namespace === undefined) break
    const itself = at === id.segments.length - 1 ? 1 : 0
    for (let length = segment.types.length - itself; length > 0; length--) {
      const types = segment.types.slice(0, length)
      const type = registry.find(segment.namespace, types)
      if (!isStored(type) || type.reconcile === undefined) continue
      const names = segment.names.slice(0, length)
      found.unshift(fromSegments([...id.segments.slice(0, at), { ...segment, types, names }]))
    }
  }
  lastSlow = { registry, key: id.key, found }
  return found
}

interface ParentLock {
  readonly deps: PlaneDependencies
  readonly tx: Tx
  readonly mayCreate: boolean
}

async function lockDirectParent(
  lock: ParentLock,
  id: ResourceId,
  parent: ResourceId,
): Promise<void> {
  const { deps, tx, mayCreate } = lock
  const last = id.segments.at(-1)
  if (last === undefined || last.namespace === undefined) return
  if (last.types.length > 1) {
    const compiled = deps.registry.find(last.namespace, last.types.slice(0, -1))
    if (!isStored(compiled)) return
    const row = await tx.lock(parent.key, 'share')
    if (row === undefined && (await isImplied(compiled, tx, parent))) {
      await lockDirectParent(lock, parent, parentOf(parent))
      return
    }
    if (row === undefined) throw refuse.ParentResourceNotFound({ id: parent.text })
    const resource = readShared(row)
    compiled.stored.container?.allowsChildren?.(resource)
    requireStaying(resource)
    return
  }
  // An extension resource: what it hangs on must exist if its type is known, except for callers who may write at the
  // root. A right there may have been deleted with it since the caller was authorized.
  const under = parent.segments.at(-1)
  if (under?.namespace === undefined) return
  const compiled = deps.registry.find(under.namespace, under.types)
  if (!isStored(compiled)) return
  const row = await tx.lock(parent.key, 'share')
  if (row !== undefined) requireStaying(readShared(row))
  else if (!mayCreate && !(await isImplied(compiled, tx, parent))) {
    throw refuse.ResourceNotFound({ id: parent.text })
  }
}

async function isImplied({ stored }: CompiledStoredType, tx: Tx, id: ResourceId): Promise<boolean> {
  if (stored.isImplied === undefined) return false
  const above = await tx.lock(parentOf(id).key, 'share')
  return stored.isImplied(id, above && readShared(above))
}

/** Nothing may be created at or below something in deletion: a lock would be answered and then removed with it. */
function requireStaying({ deleting, id, state }: StoredResource): void {
  if (deleting) throw refuse.AnotherOperationInProgress({ id: id.text, state })
}

/** Refuses a name that breaks the rule of its type. */
export function checkName(
  compiled: CompiledStoredType,
  id: ResourceId,
  name: NameRule = compiled.stored.name,
): void {
  const given = nameOf(id)
  if (name.pattern.test(given)) return
  throw name.refuse?.(given) ?? refuse.InvalidResourceName({ name: given, rule: name.rule })
}

function scopeType(deps: PlaneDependencies, scope: ResourceId): CompiledStoredType {
  const name =
    resourceGroupOf(scope) === undefined
      ? 'Resources/subscriptions'
      : 'Resources/subscriptions/resourceGroups'
  return deps.registry.byName(name)
}

/** The refusal of a write below a scope that is missing, or that cannot exist because its name breaks the rule. */
export function refuseMissingScope(deps: PlaneDependencies, scope: ResourceId): never {
  checkName(scopeType(deps, scope), scope)
  throw missingScope(scope)
}

async function createScope(
  deps: PlaneDependencies,
  tx: Tx,
  scope: ResourceId,
  write: ScopeWrite,
): Promise<StoredResource> {
  const compiled = scopeType(deps, scope)
  const create = compiled.stored.container?.createImplicitly
  checkName(compiled, scope)
  if (!write.mayCreate || create === undefined) throw missingScope(scope)
  const { model, location } = create(scope, { now: write.now, principal: write.principal })
  const resource: StoredResource = {
    id: fromSegments(scope.segments),
    ...(location === undefined ? {} : { location }),
    systemData: stampSystemData(undefined, write.principal, write.now),
    state: 'Succeeded',
    model,
    etag: deps.ids.uuid(),
    generation: 1,
    deleting: false,
  }
  await tx.insert(writeRow(compiled, resource))
  await recordActivity(tx, {
    at: write.now,
    initiator: write.initiator,
    action: compiled.permissions.write,
    target: resource.id,
    status: 'Succeeded',
    httpStatus: 201,
    implicit: true,
  })
  return resource
}
