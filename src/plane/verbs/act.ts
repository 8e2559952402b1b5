/**
 * Actions: a POST or GET below a resource. One that only reads is run as it is; one that writes runs inside a
 * transaction and returns intent, which the reconciler carries out.
 */

import { duringAct, newAct } from '#activity/act.ts'
import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import type { Reads, Tx } from '#stores/store.ts'
import { noAttributes } from '../access.ts'
import { attributesOf } from '../attributes.ts'
import { type Action, type ActionOutcome, isLongRunning, type Resource } from '../define.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { askGuards } from '../guard.ts'
import type { LocatedRoute } from '../locate.ts'
import { linkOf, openOperation } from '../operations.ts'
import { contextOf, type Parts } from '../parts.ts'
import { requireGrant } from '../permit.ts'
import type { Outcome, RunInput } from '../plane.ts'
import type { CompiledType } from '../registry.ts'
import { impliedScopes, requireScopes } from '../scopes.ts'
import { packToken } from '../tokens.ts'
import { changesOf, recordActivity, trailOf, versionOf } from '../trail.ts'
import { notFound } from './not-found.ts'
import { cursorOf, pageLimit, purposeOf } from './read.ts'

export async function runAction(
  parts: Parts,
  route: LocatedRoute,
  input: RunInput,
): Promise<Outcome> {
  const { compiled, declaredAction: action } = route
  if (compiled === undefined || action === undefined) {
    throw new Error(`the route of ${route.id.text} has no action`)
  }
  if (action.body !== undefined && (input.body !== undefined || action.bodyOptional !== true)) {
    parts.checker.check(action.body, 'ignore', input.body, compiled.refuseProblems)
  }
  if (action.writes !== true) {
    const resource = await resourceOf(parts, compiled, route, input, parts.store)
    permit(parts, compiled, route, input, resource)
    await guard(parts, compiled, route, action, input, parts.store)
    const ran = route.leavesRecord
      ? await runRecorded(parts, route, action, input, resource)
      : await run(parts, route, action, input, parts.store, resource)
    return shown(ran)
  }
  const outcome = await parts.store.transact((tx) => actInside(parts, tx, route, action, input))
  parts.wake()
  return outcome
}

/**
 * What the action itself writes is recorded in that transaction. Where it writes nothing of its own (a secret is
 * read, a command runs in a container), its record is written before its answer is given.
 */
async function runRecorded(
  parts: Parts,
  route: LocatedRoute,
  action: Action<unknown>,
  input: RunInput,
  resource: Resource | undefined,
): Promise<Ran> {
  const trail = trailOf(input)
  const act = newAct(trail, route.operation, route.id)
  const ran = await duringAct(act, () => run(parts, route, action, input, parts.store, resource))
  if (!act.recorded) {
    const at = parts.clock.now()
    await parts.store.transact((tx) =>
      recordActivity(tx, {
        at,
        trail,
        action: route.operation,
        target: route.id,
        status: 'Succeeded',
        httpStatus: ran.status,
      }),
    )
  }
  return ran
}

/** The resource acted on: 404 when its type is stored and it is not there; undefined for virtual ones. */
async function resourceOf(
  parts: Parts,
  compiled: CompiledType,
  route: LocatedRoute,
  input: RunInput,
  reads: Reads,
): Promise<StoredResource | undefined> {
  if (compiled.versions.size === 0) return undefined
  const last = route.id.segments.at(-1)
  if (last === undefined || parts.registry.find(last.namespace, last.types) !== compiled) {
    return undefined
  }
  const row = await reads.get(route.id.key)
  if (row !== undefined) return readRow(row)
  // A pending grant is settled by the caller of this, scopes that are not there by what the action asks.
  if (route.declaredAction?.unstored === true && route.declaredAction.writes !== true)
    return undefined
  requireGrant(route, input, () => ({
    now: parts.clock.now(),
    request: 'unknown',
    resource: noAttributes,
  }))
  await requireScopes(reads, route.id, false)
  throw notFound(compiled, route.id)
}

/** What a body asks for is known to the action alone, so a condition on it cannot hold. */
function permit(
  parts: Parts,
  compiled: CompiledType,
  route: LocatedRoute,
  input: RunInput,
  resource: StoredResource | undefined,
): void {
  requireGrant(route, input, () => ({
    now: parts.clock.now(),
    request: 'unknown',
    resource:
      resource === undefined
        ? 'unknown'
        : attributesOf(parts, compiled, {
            id: resource.id,
            model: resource.model,
            location: resource.location,
            tags: resource.tags,
          }),
  }))
}

async function guard(
  parts: Parts,
  compiled: CompiledType,
  route: LocatedRoute,
  action: Action<unknown>,
  input: RunInput,
  reads: Reads,
): Promise<void> {
  if (action.method === 'GET') return
  const { reader, words } = contextOf(parts, input, parts.clock.now(), reads)
  const { type } = compiled.declaration
  await askGuards(parts.guards, { id: route.id, type, effect: 'action', words, reader })
}

async function run(
  parts: Parts,
  route: LocatedRoute,
  action: Action<unknown>,
  input: RunInput,
  reads: Reads,
  resource: Resource | undefined,
): Promise<Ran> {
  const purpose = purposeOf(route, input.query)
  const outcome = await action.run(
    {
      ...contextOf(parts, input, parts.clock.now(), reads),
      id: route.id,
      resource,
      query: input.query,
      version: route.version,
      cursor: cursorOf(parts, purpose, input.query),
      pageSize: pageLimit(parts.limits, input.query),
      permission: input.permission,
    },
    // Checked against the action's schema, by which its own file types it.
    input.body as never,
  )
  if (outcome.next === undefined) return outcome
  return { ...outcome, nextToken: packToken(parts.tokenKey, purpose, outcome.next) }
}

type Ran = ActionOutcome<unknown> & Pick<Outcome, 'nextToken'>

function shown(outcome: Ran): Outcome {
  return {
    status: outcome.status,
    ...(outcome.nextToken === undefined ? {} : { nextToken: outcome.nextToken }),
    ...(outcome.body === undefined ? {} : { body: outcome.body }),
    ...(outcome.headers === undefined ? {} : { headers: outcome.headers }),
  }
}

async function actInside(
  parts: Parts,
  tx: Tx,
  route: LocatedRoute,
  action: Action<unknown>,
  input: RunInput,
): Promise<Outcome> {
  const { compiled, id } = route
  if (compiled === undefined) throw new Error(`the route of ${id.text} has no type`)
  for (const scope of impliedScopes(id)) await tx.lock(scope.key, 'share')
  await tx.lock(id.key, 'change')
  const current = await resourceOf(parts, compiled, route, input, tx)
  if (current === undefined) throw notFound(compiled, id)
  permit(parts, compiled, route, input, current)
  await guard(parts, compiled, route, action, input, tx)
  const verdict = checkPreconditions('POST', input.preconditions, current.etag)
  if (verdict.kind === 'failed') {
    throw refuse.PreconditionFailed({ header: verdict.header, id: id.text })
  }
  const { declaration } = compiled
  const goesOn = action.whileRunning === true && !isTerminalState(current.state)
  if (current.deleting || !(goesOn || isTerminalState(current.state))) {
    throw (
      declaration.busy?.(current) ??
      refuse.AnotherOperationInProgress({ id: id.text, state: current.state })
    )
  }
  const outcome = await run(parts, route, action, input, tx, current)
  const now = parts.clock.now()
  const told = {
    at: now,
    trail: trailOf(input),
    action: route.operation,
    target: current.id,
    httpStatus: outcome.status,
  }
  if (outcome.model === undefined) {
    await recordActivity(tx, { ...told, status: 'Succeeded' })
    return shown(outcome)
  }
  const { reconcile } = declaration
  const opensNone = goesOn || !isLongRunning(declaration)
  const next: StoredResource = {
    ...current,
    model: outcome.model,
    systemData: stampSystemData(current.systemData, input.principal, now),
    state: reconcile === undefined || opensNone ? current.state : reconcile.states.updating,
    etag: parts.ids.uuid(),
    generation: current.generation + 1,
  }
  await tx.update(writeRow(compiled, next), current.etag)
  if (declaration.feed !== undefined) await tx.follow(declaration.feed, id.key)
  const version = versionOf(compiled, route.version)
  const changes = changesOf(parts, { compiled, version, before: current, after: next })
  const record = { ...told, ...(changes === undefined ? {} : { changes }) }
  if (reconcile === undefined || opensNone) {
    if (reconcile !== undefined) await tx.schedule(id.key, now)
    await recordActivity(tx, { ...record, status: 'Succeeded' })
    return { ...shown(outcome), etag: next.etag }
  }
  const operation = await openOperation(parts, tx, {
    id: current.id,
    compiled,
    kind: 'action',
    version: route.version,
    principal: input.principal,
    correlationId: input.correlationId,
    action: route.operation,
    now,
    resultStatus: outcome.status === 202 ? 200 : outcome.status,
  })
  await tx.schedule(id.key, now)
  await recordActivity(tx, { ...record, status: 'Accepted', operationId: operation.id })
  return { ...shown(outcome), etag: next.etag, operation: linkOf(operation, compiled) }
}
