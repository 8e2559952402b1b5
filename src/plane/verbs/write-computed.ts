/** PUT, PATCH and DELETE of a computed item, and the tag such an item has. */

import { createHash } from 'node:crypto'
import { changesBetween } from '#activity/changes.ts'
import { newRequestActivity, withRequestActivity } from '#activity/request-activity.ts'
import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Reads, Tx } from '#stores/store.ts'
import { initiatorOf, recordActivity } from '../audit.ts'
import { canonicalWords } from '../canonical-body.ts'
import { checkSchema } from '../check.ts'
import type { GetContext } from '../declare/computed.ts'
import { contextOf, createReader, type PlaneDependencies } from '../dependencies.ts'
import { requireGrant } from '../grant.ts'
import { askGuards } from '../guard.ts'
import type { ComputedWriteRoute } from '../locate.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { heldNow } from '../reconcile/held.ts'
import { notFound } from './not-found.ts'
import { removeAttached, requireNothingForbidden } from './remove-below.ts'

interface Opened {
  readonly now: number
  readonly given: unknown
  readonly requested: GetContext
  /** Undefined only where the write may create or remove the item. */
  readonly current: object | undefined
}

/** The steps before the source writes: the grant, the schema, the guards, and whether the item exists. */
async function openComputed(
  deps: PlaneDependencies,
  route: ComputedWriteRoute,
  input: RunInput,
  reads: Reads,
): Promise<Opened> {
  const { compiled, write, source } = route
  const now = deps.clock.now()
  requireWholeGrant(route, input, now)
  const given = write.body === undefined ? undefined : canonicalWords(write.body, input.body)
  if (write.body !== undefined) {
    checkSchema(write.body, 'ignore', given, compiled.refuseProblems)
  }
  const context = contextOf(deps, input, now, reads)
  const { words, reader } = context
  const { type } = compiled.declaration
  const effect = takesAway(route) ? 'delete' : 'write'
  await askGuards(deps.guards, { id: route.id, type, effect, words, reader })
  const requested = {
    ...context,
    id: route.id,
    requested: route.scope,
    query: input.query,
    ...(input.from === undefined ? {} : { from: input.from }),
  }
  const current = await source.get?.(requested)
  if (current === undefined && write.makes !== true) throw notFound(compiled, route.id)
  return { now, given, requested, current }
}

/** What the write would answer, on top of what a dry run has written. */
export async function previewComputed(
  deps: PlaneDependencies,
  route: ComputedWriteRoute,
  input: RunInput,
  reads: Reads,
): Promise<Outcome> {
  const { given, requested, current } = await openComputed(deps, route, input, reads)
  if (takesAway(route)) return { status: statusOf(route, current) }
  const body = (await route.write.preview?.(requested, given as never)) ?? current
  if (body === undefined) throw notFound(route.compiled, route.id)
  return { status: statusOf(route, current), body, etag: computedEtag(body) }
}

/** Its source writes; guards and the audit trail work as for any other write. */
export async function writeComputed(
  deps: PlaneDependencies,
  route: ComputedWriteRoute,
  input: RunInput,
): Promise<Outcome> {
  const { compiled, write, method } = route
  const { now, given, requested, current } = await openComputed(deps, route, input, deps.store)
  const status = statusOf(route, current)
  if (status === 204) return { status }
  const requirePreconditions = (item: object | undefined): void => {
    const tag = item === undefined ? undefined : computedEtag(item)
    const verdict = checkPreconditions(method, input.preconditions, tag)
    if (verdict.kind === 'failed') {
      throw refuse.PreconditionFailed({ header: verdict.header, id: route.id.text })
    }
  }
  requirePreconditions(current)
  // Checked against the schema, by which its own file types it.
  const initiator = initiatorOf(input)
  const requireHeld = heldNow()
  const authorizeAgain = async (): Promise<void> => {
    requireHeld()
    // It may have become a conditional one.
    requireWholeGrant(route, { ...input, pending: await input.authorizeAgain?.() }, now)
  }
  const { operation, id } = route
  const again = { ...input, authorizeAgain }
  const requestActivity = newRequestActivity(initiator, operation, id, again)
  // The source may have asked others.
  await authorizeAgain()
  if (takesAway(route) || status === 201) await requireAttachedMayGo(deps, id, input)
  // A lock that keeps them keeps the item from being made.
  const endEarlierRights = (): Promise<void> =>
    removeAttached(deps, id, initiator, (tx) => requireUnlocked(deps, route, tx))
  const body = await withRequestActivity(requestActivity, () =>
    write.apply(
      { ...requested, requirePreconditions, authorizeAgain, endEarlierRights },
      given as never,
    ),
  )
  if (body === undefined && !takesAway(route)) throw notFound(compiled, route.id)
  if (takesAway(route)) await removeAttached(deps, id, initiator)
  if (!requestActivity.recorded) {
    await deps.store.transact((tx) =>
      recordActivity(tx, {
        at: now,
        initiator,
        action: route.operation,
        target: route.id,
        status: 'Succeeded',
        httpStatus: status,
        changes: changesBetween(current, body),
      }),
    )
  }
  return body === undefined ? { status } : { status, body, etag: computedEtag(body) }
}

/** Only the type understands a computed item, so conditions on it cannot hold. */
function requireWholeGrant(
  route: ComputedWriteRoute,
  input: Pick<RunInput, 'pending' | 'principal'>,
  now: number,
): void {
  requireGrant(route, input, () => ({ now, request: 'unknown', resource: 'unknown' }))
}

/** Role assignments go with the item, as with a resource that is stored: what denies that denies the write. */
async function requireAttachedMayGo(
  deps: PlaneDependencies,
  id: ResourceId,
  { principal }: Pick<RunInput, 'principal'>,
): Promise<void> {
  const prohibitions = await deps.access.prohibitionsFor?.(principal)
  await requireNothingForbidden(deps, deps.store, { id, principal, prohibitions })
}

async function requireUnlocked(
  { guards, registry, limits }: PlaneDependencies,
  { id, compiled }: ComputedWriteRoute,
  tx: Tx,
): Promise<void> {
  const { type } = compiled.declaration
  const reader = createReader({ registry, limits }, tx)
  await askGuards(guards, { id, type, effect: 'delete', words: registry.words, reader })
}

function takesAway({ write, method }: ComputedWriteRoute): boolean {
  return write.makes === true && method === 'DELETE'
}

function statusOf({ method }: ComputedWriteRoute, current: object | undefined): number {
  if (current !== undefined) return 200
  return method === 'DELETE' ? 204 : 201
}

/** The tag of a computed item: a hash of its answer. */
export function computedEtag(item: object): string {
  return createHash('sha256').update(JSON.stringify(item)).digest('base64url')
}
