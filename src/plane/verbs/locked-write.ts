/**
 * Locks what a write needs to stay as it is, outermost first: the scopes, the parent, and the resource itself. Alone, or in
 * company of others, which share what they find above them. Throws the 404 of what is missing, and writes no resource.
 */

import type { ResourceRow, Tx } from '#stores/store.ts'
import { initiatorOf } from '../audit.ts'
import { insideContextOf } from '../dependencies.ts'
import { readRow, type StoredResource } from '../document.ts'
import { askGuards } from '../guard.ts'
import { lockAhead, lockParent, lockScopes } from '../scopes.ts'
import type { Above, SharedChecks } from './shared-checks.ts'
import { begun, type Write, type WriteRequest } from './write.ts'

/** Locks the scopes above the resource, its parent and itself. */
export async function lockForWrite(request: WriteRequest, tx: Tx): Promise<Write> {
  const { deps, route, input, shared } = request
  const { id, compiled } = route
  if (shared !== undefined) return lockShared(request, tx, shared)
  const now = deps.clock.now()
  const initiator = initiatorOf(input)
  const context = insideContextOf(deps, input, now, tx)
  const askGuardsBehind = () => begun(guardsOf({ deps, id, compiled, context }))
  const early = lockAhead(deps, tx, id) ? askGuardsBehind() : undefined
  const scope = await lockAbove(request, tx, { now, initiator })
  const locking = tx.lock(id.key, 'change')
  // Behind the resource's own lock: a guard that was made before it must be seen.
  const guards = early ?? askGuardsBehind()
  const row = await locking
  const current = row === undefined ? undefined : readRow(row, id)
  return { ...request, tx, now, id, compiled, context, guards, initiator, scope, current }
}

/** The innermost scope. */
async function lockAbove(
  { deps, route: { id }, input: { principal }, mayCreateScopes: mayCreate }: WriteRequest,
  tx: Tx,
  by: Pick<Write, 'now' | 'initiator'>,
): Promise<StoredResource | undefined> {
  const scope = await lockScopes(deps, tx, id, { ...by, principal, mayCreate })
  await lockParent(deps, tx, id, mayCreate)
  return scope
}

async function lockShared(request: WriteRequest, tx: Tx, shared: SharedChecks): Promise<Write> {
  const { id } = request.route
  const above = shared.above(id) ?? (await aboveShared(request, tx, shared))
  const row = await tx.lock(id.key, 'change')
  if (shared.isUnguarded === undefined) await shared.lookForGuards(tx)
  return sharedWrite(request, tx, { shared, above, row })
}

/** What is above a resource, for it and for its siblings. */
export async function aboveShared(
  request: WriteRequest,
  tx: Tx,
  shared: SharedChecks,
): Promise<Above> {
  return shared.noteAbove(request.route.id, await lockAbove(request, tx, shared))
}

interface FoundShared {
  readonly shared: SharedChecks
  readonly above: Above
  readonly row: ResourceRow | undefined
  readonly writes?: Promise<void>[]
}

export function sharedWrite(
  request: WriteRequest,
  tx: Tx,
  { shared, above: { scope }, row, writes }: FoundShared,
): Write {
  const { deps, input, route, body, rights, mayCreateScopes } = request
  const { id, compiled } = route
  const { now, context, initiator } = shared
  const guards =
    shared.isUnguarded === true ? undefined : begun(guardsOf({ deps, id, compiled, context }))
  const current = row === undefined ? undefined : readRow(row, id)
  const own = { deps, input, route, body, rights, mayCreateScopes, shared }
  const found = { tx, now, id, compiled, context, guards, initiator, scope, current }
  return writes === undefined ? { ...own, ...found } : { ...own, ...found, writes }
}

type GuardedWrite = Pick<Write, 'deps' | 'id' | 'compiled' | 'context'>

function guardsOf({ deps, id, compiled, context }: GuardedWrite): Promise<void> {
  const { reader, words } = context
  const { type } = compiled.stored
  return askGuards(deps.guards, { id, type, effect: 'write', words, reader })
}
