/**
 * Actions: a POST or GET below a resource. A reading action runs directly; a writing one runs inside a transaction
 * and returns intent, which the reconciler carries out.
 */

import { newRequestActivity, withRequestActivity } from '#activity/request-activity.ts'
import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import type { Reads, Tx } from '#stores/store.ts'
import { noAttributes } from '../access.ts'
import { attributesOf } from '../attributes.ts'
import { auditVersion, changesOf, initiatorOf, recordActivity } from '../audit.ts'
import { canonicalBody } from '../canonical-body.ts'
import { checkSchema } from '../check.ts'
import { appendToFeed, isLongRunning, isStored } from '../compiled-type.ts'
import { packContinuationToken } from '../continuation-tokens.ts'
import type {
  ActionOutcome,
  ReadingAction,
  RequestedAction,
  WritingAction,
} from '../declare/action.ts'
import { contextOf, insideContextOf, type PlaneDependencies } from '../dependencies.ts'
import { readRow, type StoredResource, writeRow } from '../document.ts'
import { requireGrant } from '../grant.ts'
import { askGuards } from '../guard.ts'
import type { ActionRoute } from '../locate.ts'
import { linkOf, openOperation } from '../operations.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { impliedScopes, requireScopes, requireWritableScopes } from '../scopes.ts'
import { transactFor } from '../transact-on.ts'
import { notFound } from './not-found.ts'
import { pageLimit, readCursor, tokenPurpose } from './read.ts'
import { askRights, type RightsBefore } from './rights-before.ts'
import { busyRefusal } from './write.ts'

/**
 * An action that writes, with the rights that were checked before its transaction. `etag` is of the resource as it was
 * then; undefined if it does not matter.
 */
interface CheckedAction {
  readonly action: WritingAction<unknown>
  readonly may: RightsBefore['may']
  readonly etag: string | undefined
}

/** A requested action, and the reader it uses. */
interface ActionCall {
  readonly deps: PlaneDependencies
  readonly route: ActionRoute
  readonly input: RunInput
  readonly reads: Reads
}

type ActionResult = ActionOutcome<unknown> & Pick<Outcome, 'nextToken'>

export async function runAction(
  deps: PlaneDependencies,
  route: ActionRoute,
  given: RunInput,
): Promise<Outcome> {
  const { compiled, declaredAction: action } = route
  const input = { ...given, body: canonicalBody(action.body, given.body) }
  if (action.body !== undefined && (input.body !== undefined || action.bodyOptional !== true)) {
    checkSchema(action.body, 'ignore', input.body, compiled.refuseProblems)
  }
  if (action.writes === true) {
    for (;;) {
      const outcome = await transactFor(deps, compiled, {
        input,
        open: async (input) => ({ input, checked: await checkRights(deps, route, input, action) }),
        inside: ({ input, checked }, tx) =>
          writeInside({ deps, route, input, reads: tx }, checked, tx),
      })
      if (outcome === 'changed') continue
      deps.wake()
      return outcome
    }
  }
  const call: ActionCall = { deps, route, input, reads: deps.store }
  const resource = await readResource(call)
  requireActionGrant(call, resource)
  await askActionGuards(call)
  const authorizeAgain = () => authorizeActionAgain(call, resource)
  const again: ActionCall = { ...call, input: { ...input, authorizeAgain } }
  const read = (): Promise<ActionResult> => run(again, action, resource)
  return toOutcome(await (route.leavesRecord ? runRecorded(again, read) : read()))
}

/** The right may have become one that depends on a condition. */
async function authorizeActionAgain(
  call: ActionCall,
  resource: StoredResource | undefined,
): Promise<undefined> {
  const pending = await call.input.authorizeAgain?.()
  requireActionGrant({ ...call, input: { ...call.input, pending } }, resource)
}

async function checkRights(
  deps: PlaneDependencies,
  { compiled, id }: ActionRoute,
  { principal }: RunInput,
  action: WritingAction<unknown>,
): Promise<CheckedAction> {
  const row = action.rights === undefined ? undefined : await deps.store.get(id.key)
  const rights = row && action.rights?.(readRow(row).model)
  return { action, may: await askRights(deps, compiled, principal, rights), etag: row?.etag }
}

/**
 * A write of the action is recorded in its transaction. An action that writes nothing itself (a secret is read, a
 * command runs in a container) is recorded before its answer is given.
 */
async function runRecorded(
  { deps, route, input }: ActionCall,
  read: () => Promise<ActionResult>,
): Promise<ActionResult> {
  const initiator = initiatorOf(input)
  const requestActivity = newRequestActivity(initiator, route.operation, route.id, input)
  const result = await withRequestActivity(requestActivity, read)
  if (!requestActivity.recorded) {
    const at = deps.clock.now()
    await deps.store.transact((tx) =>
      recordActivity(tx, {
        at,
        initiator,
        action: route.operation,
        target: route.id,
        status: 'Succeeded',
        httpStatus: result.status,
      }),
    )
  }
  return result
}

/** The resource acted on: 404 when its type is stored and it is missing; undefined for types that store nothing. */
async function readResource({
  deps,
  route,
  input,
  reads,
}: ActionCall): Promise<StoredResource | undefined> {
  const { compiled, id, declaredAction: action } = route
  if (!isStored(compiled)) return undefined
  const last = id.segments.at(-1)
  if (last === undefined || deps.registry.find(last.namespace, last.types) !== compiled) {
    return undefined
  }
  const row = await reads.get(id.key)
  if (row !== undefined) return readRow(row)
  // The caller of this function settles a conditional grant; the action itself checks for missing scopes.
  if (action.writes !== true && action.unstored === true) return undefined
  requireGrant(route, input, () => ({
    now: deps.clock.now(),
    request: 'unknown',
    resource: noAttributes,
  }))
  await requireScopes(reads, id, false)
  throw notFound(compiled, id)
}

/** Only the action understands its body, so a condition on the request cannot hold. */
function requireActionGrant(
  { deps, route, input }: ActionCall,
  resource: StoredResource | undefined,
): void {
  const { compiled } = route
  requireGrant(route, input, () => ({
    now: deps.clock.now(),
    request: 'unknown',
    resource:
      resource === undefined || !isStored(compiled)
        ? 'unknown'
        : attributesOf(deps, compiled, {
            id: resource.id,
            model: resource.model,
            location: resource.location,
            tags: resource.tags,
          }),
  }))
}

async function askActionGuards({ deps, route, input, reads }: ActionCall): Promise<void> {
  const { method, countsAsRead, revealsSecret, endsWork } = route.declaredAction
  if (method === 'GET') return
  const isHarmless = countsAsRead === true || revealsSecret === true || endsWork === true
  if (!isHarmless) await requireWritableScopes(deps, reads, route.id)
  const { reader, words } = insideContextOf(deps, input, deps.clock.now(), reads)
  const { type } = route.compiled.declaration
  await askGuards(deps.guards, { id: route.id, type, effect: 'action', words, reader })
}

async function run(
  call: ActionCall,
  action: ReadingAction<unknown>,
  resource: StoredResource | undefined,
): Promise<ActionResult> {
  const { deps, route, input, reads } = call
  const context = contextOf(deps, input, deps.clock.now(), reads)
  // Checked against the action's schema, by which its own file types it.
  const body = input.body as never
  const outcome = await action.run({ ...context, ...requestedAction(call), resource }, body)
  // It may have waited for others, and a secret must not reach who has lost the right to it.
  if (action.revealsSecret === true) await input.authorizeAgain?.()
  if (outcome.next === undefined) return outcome
  const purpose = tokenPurpose(route, input.query)
  return { ...outcome, nextToken: packContinuationToken(deps.tokenKeys(), purpose, outcome.next) }
}

function requestedAction({ deps, route, input }: ActionCall): RequestedAction {
  return {
    id: route.id,
    query: input.query,
    version: route.version,
    cursor: readCursor(deps, tokenPurpose(route, input.query), input.query),
    pageSize: pageLimit(deps.limits, input.query),
    publicUrl: input.publicUrl,
    permission: input.permission,
  }
}

function toOutcome({ status, body, headers, nextToken }: ActionResult): Outcome {
  return {
    status,
    ...(nextToken === undefined ? {} : { nextToken }),
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  }
}

/** `changed`: the rights that were checked may not be those that the resource needs now. */
async function writeInside(
  call: ActionCall,
  { action, may, etag }: CheckedAction,
  tx: Tx,
): Promise<Outcome | 'changed'> {
  const { deps, route, input } = call
  const { compiled, id } = route
  for (const scope of impliedScopes(id)) await tx.lock(scope.key, 'share')
  await tx.lock(id.key, 'change')
  const current = await readResource(call)
  if (current === undefined || !isStored(compiled)) throw notFound(compiled, id)
  requireActionGrant(call, current)
  await askActionGuards(call)
  const verdict = checkPreconditions('POST', input.preconditions, current.etag)
  if (verdict.kind === 'failed') {
    throw refuse.PreconditionFailed({ header: verdict.header, id: id.text })
  }
  if (action.rights !== undefined && current.etag !== etag) return 'changed'
  const isRunning = !isTerminalState(current.state)
  const goesOn = action.whileRunning === true && isRunning
  if (current.deleting || (isRunning && !goesOn)) throw busyRefusal(compiled, current)
  const now = deps.clock.now()
  const context = { ...insideContextOf(deps, input, now, tx), ...requestedAction(call), may }
  const result = await action.run({ ...context, resource: current }, input.body as never)
  const record = {
    at: now,
    initiator: initiatorOf(input),
    action: route.operation,
    target: current.id,
    httpStatus: result.status,
  }
  if (result.model === undefined) {
    await recordActivity(tx, { ...record, status: 'Succeeded' })
    return toOutcome(result)
  }
  const { reconcile } = compiled
  const opensOperation = reconcile !== undefined && isLongRunning(compiled) && !goesOn
  const next: StoredResource = {
    ...current,
    model: result.model,
    systemData: stampSystemData(current.systemData, input.principal, now),
    state: opensOperation ? reconcile.states.updating : current.state,
    etag: deps.ids.uuid(),
    generation: current.generation + 1,
  }
  await tx.update(writeRow(compiled, next), current.etag)
  await appendToFeed(tx, compiled, id.key)
  const version = auditVersion(compiled, route.version)
  const changes = changesOf(deps, { compiled, version, before: current, after: next })
  const changed = { ...record, ...(changes === undefined ? {} : { changes }) }
  if (reconcile !== undefined) await tx.schedule(id.key, now)
  if (!opensOperation) {
    await recordActivity(tx, { ...changed, status: 'Succeeded' })
    return { ...toOutcome(result), etag: next.etag }
  }
  const operation = await openOperation(deps, tx, {
    id: current.id,
    compiled,
    kind: 'action',
    version: route.version,
    principal: input.principal,
    correlationId: input.correlationId,
    action: route.operation,
    now,
    resultStatus: result.status === 202 ? 200 : result.status,
  })
  await recordActivity(tx, { ...changed, status: 'Accepted', operationId: operation.id })
  return { ...toOutcome(result), etag: next.etag, operation: linkOf(operation, compiled) }
}
