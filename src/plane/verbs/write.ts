/**
 * The steps that PUT and PATCH share. Each takes the result of an earlier step as a value; `put.ts` and `patch.ts`
 * say in which order they run.
 */

import type { ActivityRecord, Initiator } from '#activity/record.ts'
import { type ApiError, type Problem, refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { isJsonObject, sameJson } from '#kernel/patch.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import { tagProblems } from '#kernel/tags.ts'
import { StoreConflict, type Tx } from '#stores/store.ts'
import { type Attributes, noAttributes } from '../access.ts'
import { attributesOf } from '../attributes.ts'
import { changesOf, recordActivity } from '../audit.ts'
import { canonicalBody } from '../canonical-body.ts'
import { checkSchema } from '../check.ts'
import { appendToFeed, type CompiledStoredType } from '../compiled-type.ts'
import type { InsideContext } from '../declare/resource.ts'
import type { Version } from '../declare/wire.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { type StoredResource, toWire, writeRow, writeRowLate } from '../document.ts'
import { requireGrant } from '../grant.ts'
import type { WriteRoute } from '../locate.ts'
import { freeTurn } from '../next-turn.ts'
import { linkOf, type Opening, openOperation, readOperation } from '../operations.ts'
import type { OperationLink, Outcome, RunInput } from '../plane.ts'
import { impliedScopes, mayCreateScopes, refuseMissingScope } from '../scopes.ts'
import { givesSecret, receiverProblems } from '../secrets.ts'
import { transactFor } from '../transact-on.ts'
import { answerOf, endedOperation } from './declared-answer.ts'
import { findByUniqueKey } from './find-by-unique-key.ts'
import { type Desired, defaultLocation, provisioningStateAfter } from './placement.ts'
import { askRightsBefore, type RightsBefore } from './rights-before.ts'
import type { SharedChecks } from './shared-checks.ts'

export type JsonBody = Readonly<Record<string, unknown>>

/** A PUT or PATCH whose body is checked as far as that needs no transaction. */
export interface CheckedWrite {
  readonly deps: PlaneDependencies
  readonly route: WriteRoute
  readonly input: RunInput
  /** For a PUT, as the type has completed it before the transaction; for a PATCH, as it was sent. */
  readonly body: JsonBody
  /** Throws where the caller has lost a right by which the type completed the body. */
  requireStillPrepared?(): Promise<void>
}

/** A PUT or PATCH before its transaction, with the rights it needs. */
export interface WriteRequest extends CheckedWrite {
  readonly mayCreateScopes: boolean
  readonly rights: RightsBefore
  /** Present where several writes are made in one transaction, or tried in one dry run. */
  readonly shared?: SharedChecks
}

/** A PUT or PATCH inside its transaction. All rows it reads are locked. */
export interface Write extends WriteRequest {
  readonly tx: Tx
  readonly now: number
  readonly id: ResourceId
  readonly compiled: CompiledStoredType
  readonly context: InsideContext
  /** Rejects with the refusal of a guard. Asked behind the locks, without waiting for them: all are one way to a server. */
  readonly guards: Promise<void> | undefined
  readonly initiator: Initiator
  /** The innermost scope of the resource. */
  readonly scope: StoredResource | undefined
  readonly current: StoredResource | undefined
  /** In company: what is written is waited for at the end of the transaction. */
  readonly writes?: Promise<void>[]
}

/** Also answers 404 for a missing scope, cheaply, before the transaction that locks the scopes. */
async function openWriteRequest(checked: CheckedWrite): Promise<WriteRequest> {
  const { deps, route, input, body } = checked
  await checked.requireStillPrepared?.()
  const mayCreate = await mayCreateScopes(deps, input)
  if (!mayCreate) {
    for (const scope of impliedScopes(route.id)) {
      if ((await deps.store.get(scope.key)) === undefined) refuseMissingScope(deps, scope)
    }
  }
  const rights = await askRightsBefore(deps, route, input, body)
  return { deps, route, input, body, rights, mayCreateScopes: mayCreate }
}

/** Runs the transaction of a write, and turns the store's conflict over a unique key into a refusal. */
export async function commitWrite(
  checked: CheckedWrite,
  inside: (request: WriteRequest, tx: Tx) => Promise<Outcome>,
): Promise<Outcome> {
  const { deps, route, input } = checked
  await freeTurn(input.principal.id)
  let outcome: Outcome
  try {
    outcome = await transactFor(deps, route.compiled, {
      input,
      open: (input) => openWriteRequest({ ...checked, input }),
      inside,
    })
  } catch (error) {
    if (error instanceof StoreConflict && error.unique !== undefined) {
      throw await uniqueRefusal(checked, error.unique)
    }
    throw error
  }
  const isScheduled =
    outcome.operation !== undefined || route.compiled.reconcile?.background !== undefined
  if (isScheduled) deps.wake()
  return outcome
}

/** Not inside a transaction: the one that met the taken key has ended. */
export async function uniqueRefusal(
  { deps, route }: Pick<WriteRequest, 'deps' | 'route'>,
  key: string,
): Promise<ApiError> {
  const { compiled, id } = route
  const existing = await findByUniqueKey(deps, compiled, id, key)
  return compiled.stored.unique?.refuse?.(id, existing) ?? refuse.Conflict({ id: id.text })
}

/** A failure is thrown where the result is waited for. */
export function begun<T>(result: Promise<T>): Promise<T> {
  result.catch(() => undefined)
  return result
}

/**
 * A write must be allowed as it is requested (`requireGrantOnRequested`). Where something is stored already, it must
 * first also be allowed on what is stored: otherwise a caller could take over a resource by asking to turn it into
 * one they may write, or learn about it from the problems of their request.
 */
export function requireGrantOnStored(write: Write): void {
  const { route, input, now, current } = write
  if (current === undefined) return
  requireGrant(route, input, () => {
    const attributes = storedAttributes(write)
    return { now, request: attributes, resource: attributes }
  })
}

export function requireGrantOnRequested(write: Write, requested: Desired, body?: JsonBody): void {
  const { deps, route, input, id, compiled, now, current, scope } = write
  const own = requested.location ?? current?.location ?? scope?.location
  const isTracked = compiled.stored.tracked !== undefined
  const location = own ?? (isTracked ? defaultLocation(id) : undefined)
  requireGrant(route, input, () => ({
    now,
    request: attributesOf(deps, compiled, { ...requested, id, location }, body),
    resource: storedAttributes(write),
  }))
}

function storedAttributes({ deps, compiled, current }: Write): Attributes {
  if (current === undefined) return noAttributes
  return attributesOf(deps, compiled, { ...currentAsDesired(current), id: current.id })
}

export function requireWritePreconditions(write: Write, method: 'PUT' | 'PATCH'): void {
  const { input, compiled, current, id } = write
  const { preconditions } = input
  const verdict = checkPreconditions(method, preconditions, current?.etag)
  const creates =
    compiled.stored.protocol?.anyMatchCreates === true &&
    method === 'PUT' &&
    current === undefined &&
    preconditions.ifMatch?.trim() === '*'
  if (verdict.kind === 'failed' && !creates) {
    throw refuse.PreconditionFailed({ header: verdict.header, id: id.text })
  }
  const required = compiled.stored.protocol?.ifMatchRequired ?? []
  const isRequired = required.includes(method === 'PUT' ? 'put' : 'patch')
  if (current !== undefined && isRequired && preconditions.ifMatch === undefined) {
    throw refuse.PreconditionFailed({ header: 'If-Match', id: current.id.text })
  }
}

/** The answer of a write that changes nothing; undefined if it changes something. */
export async function unchangedOutcome(
  write: Write,
  desired: Desired,
  schema: Version<unknown>['body'],
): Promise<Outcome | undefined> {
  const { input, compiled, current, tx, id } = write
  if (current === undefined || current.deleting) return undefined
  // Answering "unchanged" would reveal that the given secret equals the kept one.
  if (givesSecret(compiled.stored.secrets, schema, input.body, desired.model)) return undefined
  const isSame =
    sameJson(current.model, desired.model) && sameJson(current.tags ?? {}, desired.tags ?? {})
  if (!isSame) return undefined
  // Only reconciled types have operations.
  const running = compiled.reconcile && (await tx.runningOperation(id.key))
  if (running !== undefined) {
    return outcomeOf(write, current, 200, linkOf(readOperation(running), compiled))
  }
  if (current.state !== 'Succeeded') return undefined
  const ended = await endedOperation(write.deps, tx, 'changed', openingOf(write, id, 200))
  return { ...outcomeOf(write, current, 200, ended), isUnchanged: true }
}

export function requireNotBusy(
  compiled: CompiledStoredType,
  current: StoredResource | undefined,
): void {
  if (current === undefined || (!current.deleting && isTerminalState(current.state))) return
  throw busyRefusal(compiled, current)
}

export function busyRefusal(compiled: CompiledStoredType, current: StoredResource): ApiError {
  const { id, state } = current
  const { stored } = compiled
  const own = stored.kind === 'reconciled' ? stored.busy?.(current) : undefined
  return own ?? refuse.AnotherOperationInProgress({ id: id.text, state })
}

/** Secrets first: a rule may contact others about what is desired. */
export async function requireRules(write: Write, desired: Desired): Promise<void> {
  const { compiled, context, current, id, input, route } = write
  const { stored, refuseProblems } = compiled
  const misdirected = receiverProblems(stored.secrets, current?.model, desired.model, input.body)
  if (misdirected.length > 0) throw refuseProblems(misdirected)
  const problems = await stored.rules?.({
    ...context,
    may: write.rights.may,
    id,
    requested: route.scope,
    desired: desired.model,
    previous: current?.model,
    location: desired.location,
    tags: desired.tags,
  })
  if (problems !== undefined && problems.length > 0) throw refuseProblems(problems)
}

/** Writes the resource, its operation, its schedule and its record: all or nothing. */
export async function storeDesired(write: Write, desired: Desired): Promise<Outcome> {
  const { deps, tx, compiled, id, now, current } = write
  const { reconcile } = compiled
  const next = nextOf(write, desired)
  const [effect, status] =
    current === undefined ? (['created', 201] as const) : (['changed', 200] as const)
  const isLong = reconcile !== undefined && !isTerminalState(next.state)
  if (tx.isDryRun === true) return storeDry(write, next, { effect, status, isLong })
  if (write.writes !== undefined && !isLong) return storeBeside(write, next, { effect, status })
  await tx.pause()
  const nextRow = writeRow(compiled, next)
  await tx.pause()
  const storeRow = (): Promise<void> =>
    current === undefined ? tx.insert(nextRow) : tx.update(nextRow, current.etag)
  if (isLong) await storeRow()
  const opening = openingOf(write, next.id, status)
  const opened = isLong ? await openOperation(deps, tx, opening) : undefined
  const operation =
    opened === undefined
      ? await endedOperation(deps, tx, effect, opening)
      : linkOf(opened, compiled)
  const outcome = outcomeOf(write, next, status, operation)
  await tx.pause()
  const record = recordOf(write, { next, outcome, effect, operationId: opened?.id })
  const isScheduled = isLong || reconcile?.background !== undefined
  // All at once, and the commit with them: on a database server that is one way.
  const writes = [
    recordActivity(tx, record),
    isLong ? undefined : storeRow(),
    isScheduled ? tx.schedule(id.key, now) : undefined,
  ]
  await (tx.endWith === undefined ? Promise.all(writes) : tx.endWith(writes))
  await appendToFeed(tx, compiled, id.key)
  return outcome
}

/** Nobody waits here for the store: it answers in order, and the transaction waits for all of it. */
function storeBeside(
  write: Write,
  next: StoredResource,
  { effect, status }: Pick<Effect, 'effect' | 'status'>,
): Outcome {
  const { tx, compiled, current, shared, writes = [] } = write
  const row = writeRow(compiled, next)
  const outcome = outcomeOf(write, next, status)
  const recorded = recordActivity(tx, recordOf(write, { next, outcome, effect }))
  const stored = current === undefined ? tx.insert(row) : tx.update(row, current.etag)
  writes.push(begun(recorded), begun(stored))
  shared?.wrote(row.key, row.type)
  return outcome
}

interface Recorded {
  readonly next: StoredResource
  readonly outcome: Outcome & { readonly body: object }
  readonly effect: Effect['effect']
  readonly operationId?: string | undefined
}

function recordOf(
  { deps, route, compiled, now, current, input, initiator }: Write,
  { next, outcome, effect, operationId }: Recorded,
): ActivityRecord {
  const changes = changesOf(deps, {
    compiled,
    version: route.shape,
    before: current,
    after: next,
    wireAfter: outcome.body,
    body: input.body,
  })
  return {
    at: now,
    initiator,
    action: route.operation,
    target: next.id,
    status: operationId === undefined ? 'Succeeded' : 'Accepted',
    httpStatus: answerOf(compiled, effect).status ?? outcome.status,
    ...(operationId === undefined ? {} : { operationId }),
    ...(changes === undefined ? {} : { changes }),
  }
}

/** What later writes of a dry run read, and the answer. Nobody reads its record, its schedule or its feed. */
async function storeDry(
  write: Write,
  next: StoredResource,
  { effect, status, isLong }: Effect,
): Promise<Outcome> {
  const { deps, tx, compiled, current } = write
  await tx.pause()
  const row = writeRowLate(compiled, next)
  await (current === undefined ? tx.insert(row) : tx.update(row, current.etag))
  if (!isLong && answerOf(compiled, effect).leadsTo !== 'operation') {
    return outcomeLate(write, next, status)
  }
  const opening = openingOf(write, next.id, status)
  const operation = isLong
    ? linkOf(await openOperation(deps, tx, opening), compiled)
    : await endedOperation(deps, tx, effect, opening)
  return outcomeLate(write, next, status, operation)
}

interface Effect {
  readonly effect: 'created' | 'changed'
  readonly status: number
  readonly isLong: boolean
}

function nextOf(write: Write, desired: Desired): StoredResource {
  const { deps, route, input, compiled, id, now, current } = write
  return {
    // Names show the case of the latest PUT (facts 9.2). A PATCH names what is there: it does not spell it anew.
    id: current === undefined || route.kind === 'put' ? id : current.id,
    ...(desired.location === undefined ? {} : { location: desired.location }),
    ...(desired.tags === undefined ? {} : { tags: desired.tags }),
    systemData: stampSystemData(current?.systemData, input.principal, now),
    state: provisioningStateAfter(compiled, current, desired),
    model: desired.model,
    ...(current?.observed === undefined ? {} : { observed: current.observed }),
    etag: deps.ids.uuid(),
    generation: (current?.generation ?? 0) + 1,
    deleting: false,
  }
}

function openingOf(
  { route, input, compiled, now, current }: Write,
  id: ResourceId,
  resultStatus: number,
): Opening & { readonly compiled: CompiledStoredType } {
  return {
    id,
    compiled,
    kind: current === undefined ? 'create' : 'update',
    version: route.version,
    principal: input.principal,
    correlationId: input.correlationId,
    action: route.operation,
    now,
    resultStatus,
  }
}

function outcomeOf(
  write: Write,
  resource: StoredResource,
  status: number,
  operation?: OperationLink,
): Outcome & { readonly body: object } {
  return {
    status,
    body: shownOf(write, resource),
    etag: resource.etag,
    ...(operation === undefined ? {} : { operation }),
  }
}

function shownOf(
  { deps, compiled, route }: Pick<Write, 'deps' | 'compiled' | 'route'>,
  resource: StoredResource,
): object {
  return toWire(compiled, route.shape, resource, deps.registry.words)
}

/** Of a dry run: hardly any of these answers are looked at, so each is made when it is. */
function outcomeLate(
  write: Write,
  resource: StoredResource,
  status: number,
  operation?: OperationLink,
): Outcome & { readonly body: object } {
  // Nothing else of the write is kept by its answer: a plan has a thousand of them until its last one was tried.
  const { deps, compiled, route } = write
  return {
    status,
    get body() {
      return shownOf({ deps, compiled, route }, resource)
    },
    etag: resource.etag,
    ...(operation === undefined ? {} : { operation }),
  }
}

export function currentAsDesired({ model, location, tags }: StoredResource): Desired {
  return { model, location, tags }
}

/** The schema first, then what a schema cannot check; each reports all its problems at once. */
export function checkBody(
  { compiled, shape }: Pick<WriteRoute, 'compiled' | 'shape'>,
  given: unknown,
): JsonBody {
  const { refuseProblems } = compiled
  const isLeftOut = given === undefined && compiled.stored.protocol?.bodyOptional === true
  const body = canonicalBody(shape.body, isLeftOut ? {} : given, shape.scalars)
  checkSchema(shape.body, shape.unknownProperties, body, refuseProblems)
  // The body was checked against the version's schema, which types `problems` in its own file.
  const problems = shape.problems?.(body as never) ?? []
  if (problems.length > 0) throw refuseProblems(problems)
  // The schema says the body is an object.
  return body as JsonBody
}

/** Checks the envelope of a body by rules that are the same for all types. */
export function checkEnvelope(
  deps: PlaneDependencies,
  compiled: CompiledStoredType,
  id: ResourceId,
  body: JsonBody,
): void {
  const problems: Problem[] = []
  for (const [path, expected] of [
    ['id', id.text],
    ['name', nameOf(id)],
    ['type', compiled.wireType],
  ] as const) {
    const given = body[path]
    if (typeof given === 'string' && given.toLowerCase() !== expected.toLowerCase()) {
      problems.push({ path, message: `contradicts the path, which says '${expected}'` })
    }
  }
  if (compiled.stored.tracked !== undefined) {
    if (body['tags'] !== undefined && body['tags'] !== null) {
      problems.push(...tagProblems(body['tags'], deps.limits))
    }
    const location = body['location']
    if (location !== undefined && location !== null && typeof location !== 'string') {
      problems.push({ path: 'location', message: 'expected string' })
    } else if (typeof location === 'string' && location.length > deps.limits.locationMax) {
      const message = `expected at most ${deps.limits.locationMax} characters`
      problems.push({ path: 'location', message })
    } else if (typeof location === 'string' && notShown.test(location)) {
      problems.push({ path: 'location', message: 'expected no control characters' })
    }
  }
  if (problems.length > 0) throw compiled.refuseProblems(problems)
}

/** Control and format characters, which could act on a terminal or break a log line where a location is shown. */
const notShown = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** What a whole body asks for, given what is stored. */
export function desiredOf({ compiled, route, context, current }: Write, body: JsonBody): Desired {
  const { location } = body
  const state = isJsonObject(body['properties'])
    ? body['properties']['provisioningState']
    : undefined
  if (current !== undefined && state !== undefined && state !== current.state) {
    throw compiled.refuseProblems([
      {
        path: 'properties.provisioningState',
        message: `is read-only; it is '${current.state}' now`,
      },
    ])
  }
  return {
    // The body was checked against the version's schema, which types `toModel` in its own file.
    model: route.shape.toModel(body as never, current?.model, context),
    // A blank location counts as none, both for conditions and for what is stored.
    location: typeof location === 'string' && location.trim() !== '' ? location : undefined,
    // Checked by `checkEnvelope`.
    tags: (body['tags'] ?? undefined) as Readonly<Record<string, string>> | undefined,
  }
}
