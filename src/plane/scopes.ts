/**
 * The scopes a resource lies in: they must exist, and allow writes, before anything is written below them.
 * With scopes `implicit`, a caller who may write at the root brings missing ones into being in the same
 * transaction.
 */

import type { Trail } from '#activity/record.ts'
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
import type { Reads, Tx } from '#stores/store.ts'
import { allowsBlind } from './access.ts'
import type { NameRule } from './define.ts'
import { readRow, type StoredResource, writeRow } from './document.ts'
import type { Parts } from './parts.ts'
import type { CompiledType } from './registry.ts'
import { recordActivity } from './trail.ts'

/** The subscription and group above an id (not the id itself), outermost first. */
export function impliedScopes(id: ResourceId): readonly ResourceId[] {
  const subscription = subscriptionOf(id)
  if (subscription === undefined) return []
  const scopes: ResourceId[] = [subscriptionIdOf(subscription)]
  const group = resourceGroupOf(id)
  if (group !== undefined) scopes.push(resourceGroupIdOf(subscription, group))
  return scopes.filter((scope) => scope.key !== id.key)
}

/** The refusal for a scope that is not there. */
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
  // An implied path may go on below a scope (`…/deployments/{name}`): the end of it is no scope then.
  const isScope = id.segments.length === 1 && id.segments[0]?.namespace === undefined
  const below = scopeTypes.has(id.segments[0]?.types.join('/') ?? '')
  if (self && isScope && below) scopes.push(id)
  for (const scope of scopes) {
    if ((await reads.get(scope.key)) === undefined) throw missingScope(scope)
  }
}

/** May the caller bring scopes into being? Asked ahead of the transaction, which may ask nothing outside. */
export async function mayDeclareScopes(parts: Parts, principal: Principal): Promise<boolean> {
  if (parts.scopes === 'declared') return false
  const { permission } = parts.registry.byName('Resources/subscriptions/resourceGroups')
  const question = { principal, action: `${permission}/write`, scope: rootId }
  return allowsBlind(parts.access, question, parts.clock.now())
}

export interface ScopeWrite {
  readonly principal: Principal
  readonly trail: Trail
  readonly now: number
  readonly mayDeclare: boolean
}

/**
 * Locks the scopes above `id` against change and returns the innermost. Throws the 404 of a missing one
 * and the refusals of the scopes themselves (disabled, being deleted).
 */
export async function lockScopes(
  parts: Parts,
  tx: Tx,
  id: ResourceId,
  write: ScopeWrite,
): Promise<StoredResource | undefined> {
  let innermost: StoredResource | undefined
  for (const scope of impliedScopes(id)) {
    const row = await tx.lock(scope.key, 'share')
    const compiled = scopeType(parts, scope)
    innermost =
      row === undefined ? await declareScope(parts, tx, scope, compiled, write) : readRow(row)
    compiled.declaration.allowsChildren?.(innermost)
  }
  return innermost
}

/** Locks the stored parent of a nested resource, or answers 404 for it. */
export async function lockParent(parts: Parts, tx: Tx, id: ResourceId): Promise<void> {
  const last = id.segments.at(-1)
  if (last === undefined || last.namespace === undefined) return
  const parent = parentOf(id)
  if (last.types.length > 1) {
    const compiled = parts.registry.find(last.namespace, last.types.slice(0, -1))
    if (compiled === undefined || compiled.versions.size === 0) return
    const row = await tx.lock(parent.key, 'share')
    if (row === undefined) throw refuse.ParentResourceNotFound({ id: parent.text })
    const resource = readRow(row)
    compiled.declaration.allowsChildren?.(resource)
    // Nothing may come into being below what is on its way out, or it would outlive it.
    if (resource.deleting) {
      throw refuse.AnotherOperationInProgress({ id: parent.text, state: resource.state })
    }
    return
  }
  // An extension resource: what it hangs on must exist where scopes are declared and its type is known.
  const under = parent.segments.at(-1)
  if (under?.namespace === undefined || parts.scopes === 'implicit') return
  const compiled = parts.registry.find(under.namespace, under.types)
  if (compiled === undefined || compiled.versions.size === 0) return
  if ((await tx.lock(parent.key, 'share')) === undefined) {
    throw refuse.ResourceNotFound({ id: parent.text })
  }
}

/** The name of the resource follows the rule of its type, or it is refused. */
export function checkName(
  compiled: CompiledType,
  id: ResourceId,
  name: NameRule = compiled.declaration.name,
): void {
  const given = nameOf(id)
  if (name.pattern.test(given)) return
  throw name.refuse?.(given) ?? refuse.InvalidResourceName({ name: given, rule: name.rule })
}

function scopeType(parts: Parts, scope: ResourceId): CompiledType {
  const name =
    resourceGroupOf(scope) === undefined
      ? 'Resources/subscriptions'
      : 'Resources/subscriptions/resourceGroups'
  return parts.registry.byName(name)
}

async function declareScope(
  parts: Parts,
  tx: Tx,
  scope: ResourceId,
  compiled: CompiledType,
  write: ScopeWrite,
): Promise<StoredResource> {
  const implicit = compiled.declaration.implicit
  if (!write.mayDeclare || implicit === undefined) throw missingScope(scope)
  checkName(compiled, scope)
  const { model, location } = implicit(scope, { now: write.now, principal: write.principal })
  const resource: StoredResource = {
    id: fromSegments(scope.segments),
    ...(location === undefined ? {} : { location }),
    systemData: stampSystemData(undefined, write.principal, write.now),
    state: 'Succeeded',
    model,
    etag: parts.ids.uuid(),
    generation: 1,
    deleting: false,
  }
  await tx.insert(writeRow(compiled, resource))
  await recordActivity(tx, {
    at: write.now,
    trail: write.trail,
    action: `${compiled.permission}/write`,
    target: resource.id,
    status: 'Succeeded',
    httpStatus: 201,
    implicit: true,
  })
  return resource
}
