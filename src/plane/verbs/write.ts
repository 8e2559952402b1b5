/**
 * PUT and PATCH, top to bottom: what house section 5 draws. One transaction holds the resource, its
 * operation, its schedule and the audit event; a write that changes nothing writes nothing.
 */

import { type ApiError, type Problem, refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import { isTerminalState, type Operation } from '#kernel/operation.ts'
import { isJsonObject, mergePatch, sameJson } from '#kernel/patch.ts'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { stampSystemData } from '#kernel/system-data.ts'
import { tagProblems } from '#kernel/tags.ts'
import { StoreConflict, type Tx } from '#stores/store.ts'
import { type Attributes, noAttributes } from '../access.ts'
import { attributesOf } from '../attributes.ts'
import type { Context, PatchRule, Resource, Version } from '../define.ts'
import { readRow, type StoredResource, show, writeRow } from '../document.ts'
import { askGuards } from '../guard.ts'
import type { LocatedRoute } from '../locate.ts'
import { linkOf, openOperation, readOperation } from '../operations.ts'
import { contextOf, type Parts } from '../parts.ts'
import { requireGrant, requireWriteGrant } from '../permit.ts'
import type { Outcome, RunInput } from '../plane.ts'
import type { CompiledType } from '../registry.ts'
import {
  checkName,
  impliedScopes,
  lockParent,
  lockScopes,
  mayDeclareScopes,
  missingScope,
} from '../scopes.ts'
import { givesSecret, receiverProblems } from '../secrets.ts'
import { changesOf, recordActivity, trailOf } from '../trail.ts'
import { existingOf } from './existing.ts'
import { notFound } from './not-found.ts'
import { patchSource } from './patch-source.ts'
import { type Desired, defaultLocation, placed, stateAfter } from './placement.ts'

/** What a request asks for, given what is stored. Pure, so it may be asked more than once. */
type Make = (current: StoredResource | undefined, context: Context) => Desired

type Written =
  | { readonly kind: 'ok'; readonly outcome: Outcome }
  | { readonly kind: 'unique'; readonly key: string }

/** A PUT that was checked as far as it can be without a transaction. */
interface CheckedPut {
  readonly make: Make
  readonly body: unknown
}

export async function runPut(parts: Parts, route: LocatedRoute, input: RunInput): Promise<Outcome> {
  const { make, body } = await checkedPut(parts, route, input)
  return write(parts, route, input, 'PUT', make, body)
}

async function checkedPut(parts: Parts, route: LocatedRoute, input: RunInput): Promise<CheckedPut> {
  const { compiled, version } = typeOf(route)
  checkName(compiled, route.id, version.name)
  checkBody(parts, compiled, version, input.body)
  // The schema says the body is an object; envelopes are looked at here, once for all types.
  const given = input.body as Readonly<Record<string, unknown>>
  const problems = envelopeProblems(parts, compiled, route.scope, given)
  if (problems.length > 0) throw compiled.refuseProblems(problems)
  const body = await prepared(parts, route, input, compiled, given)
  return {
    make: (current, context) => desiredOf(compiled, version, body, current, context),
    body,
  }
}

/** The inside of a PUT, for a transaction that others decide on. */
export interface RehearsablePut {
  /** Throws as `runPut` does, but for unique keys: those are the store's conflict here. */
  run(tx: Tx): Promise<Outcome>
  /** What `runPut` would throw of a unique key that is taken. Asked outside transactions. */
  uniqueRefusal(key: string): Promise<ApiError>
}

export async function rehearsablePut(
  parts: Parts,
  route: LocatedRoute,
  input: RunInput,
): Promise<RehearsablePut> {
  const { make, body } = await checkedPut(parts, route, input)
  const mayDeclare = await mayDeclareScopes(parts, input.principal)
  return {
    run: (tx) => writeInside(parts, tx, route, input, 'PUT', make, mayDeclare, body),
    uniqueRefusal: (key) => uniqueRefusal(parts, route, key),
  }
}

async function uniqueRefusal(parts: Parts, route: LocatedRoute, key: string): Promise<ApiError> {
  const { compiled } = typeOf(route)
  const existing = await existingOf(parts, compiled, route.id, key)
  const refusal = compiled.declaration.uniqueRefusal?.(route.id, existing)
  return refusal ?? refuse.Conflict({ id: route.id.text })
}

/** The schema first, then what it cannot say; either way all problems at once. */
function checkBody(
  parts: Parts,
  compiled: CompiledType,
  version: Version<unknown>,
  body: unknown,
): void {
  const { refuseProblems } = compiled
  parts.checker.check(version.body, version.unknownProperties, body, refuseProblems)
  // Checked against the version's schema; `problems` is typed by that schema in its own file.
  const problems = version.problems?.(body as never) ?? []
  if (problems.length > 0) throw refuseProblems(problems)
}

/** The body as the type completes it ahead of the transaction; as it is for the types that do not. */
async function prepared(
  parts: Parts,
  route: LocatedRoute,
  input: RunInput,
  compiled: CompiledType,
  given: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { declaration } = compiled
  if (declaration.prepare === undefined) return given
  const context = contextOf(parts, input, parts.clock.now(), parts.store)
  const made = await declaration.prepare({ ...context, id: route.id }, given as never)
  // A prepared body has the type of the body it was made of.
  return (made ?? given) as Readonly<Record<string, unknown>>
}

export function runPatch(parts: Parts, route: LocatedRoute, input: RunInput): Promise<Outcome> {
  const source = route.compiled?.declaration.source?.patch
  if (source !== undefined && route.compiled !== undefined) {
    return patchSource(parts, route, input, { compiled: route.compiled, patch: source })
  }
  const { compiled, version } = typeOf(route)
  const patch = version.patch ?? 'merge'
  const body = input.body
  if (!isJsonObject(body)) {
    throw refuse.InvalidRequestContent({ reason: 'expected a JSON object' })
  }
  if (body['tags'] !== undefined && body['tags'] !== null) {
    const problems = tagProblems(body['tags'], parts.limits)
    if (problems.length > 0) throw compiled.refuseProblems(problems)
  }
  if (typeof patch === 'object') {
    const { refuseProblems } = compiled
    parts.checker.check(patch.body, version.unknownProperties, body, refuseProblems)
  }
  return write(parts, route, input, 'PATCH', (current, context) => {
    if (current === undefined) throw notFound(compiled, route.id)
    if (patch === 'tags') return { ...desiredNow(current), tags: patchedTags(body, current) }
    if (patch === 'merge') return merged(parts, compiled, version, body, current, context)
    return applied(patch as PatchRule<unknown>, body, current, context)
  })
}

function typeOf(route: LocatedRoute): { compiled: CompiledType; version: Version<unknown> } {
  const version = route.compiled?.versions.get(route.version)
  if (route.compiled === undefined || version === undefined) {
    throw new Error(`the route of ${route.id.text} carries no shape`)
  }
  return { compiled: route.compiled, version }
}

async function write(
  parts: Parts,
  route: LocatedRoute,
  input: RunInput,
  method: 'PUT' | 'PATCH',
  make: Make,
  /** Of a PUT, prepared. */
  body?: unknown,
): Promise<Outcome> {
  const mayDeclare = await mayDeclareScopes(parts, input.principal)
  if (!mayDeclare) await requireImplied(parts, route.id)
  const written = await uniqueGuard(() =>
    parts.store.transact((tx) =>
      writeInside(parts, tx, route, input, method, make, mayDeclare, body),
    ),
  )
  if (written.kind === 'unique') throw await uniqueRefusal(parts, route, written.key)
  if (typeOf(route).compiled.declaration.reconcile !== undefined) parts.wake()
  return written.outcome
}

/** Translates the store's word for "another row has this unique key"; every other failure goes on. */
async function uniqueGuard(work: () => Promise<Outcome>): Promise<Written> {
  try {
    return { kind: 'ok', outcome: await work() }
  } catch (error) {
    if (error instanceof StoreConflict && error.unique !== undefined) {
      return { kind: 'unique', key: error.unique }
    }
    throw error
  }
}

/** A cheap early 404 for scopes that do not exist, ahead of the transaction that locks them. */
async function requireImplied(parts: Parts, id: ResourceId): Promise<void> {
  for (const scope of impliedScopes(id)) {
    if ((await parts.store.get(scope.key)) === undefined) throw missingScope(scope)
  }
}

async function writeInside(
  parts: Parts,
  tx: Tx,
  route: LocatedRoute,
  input: RunInput,
  method: 'PUT' | 'PATCH',
  make: Make,
  mayDeclare: boolean,
  body: unknown,
): Promise<Outcome> {
  const { compiled, version } = typeOf(route)
  const { declaration } = compiled
  const { id } = route
  const now = parts.clock.now()
  const trail = trailOf(input)
  const scope = await lockScopes(parts, tx, id, {
    principal: input.principal,
    trail,
    now,
    mayDeclare,
  })
  await lockParent(parts, tx, id)
  const row = await tx.lock(id.key, 'change')
  const current = row === undefined ? undefined : readRow(row)
  const context = contextOf(parts, input, now, tx)
  if (current === undefined && method === 'PATCH') {
    requireGrant(route, input, () => ({ now, request: 'unknown', resource: noAttributes }))
    throw notFound(compiled, id)
  }
  const resource = (): Attributes =>
    attributesOf(parts, compiled, current && { ...desiredNow(current), id })
  requireWriteGrant(route, input, {
    stored() {
      if (current === undefined) return undefined
      const attributes = resource()
      return { now, request: attributes, resource: attributes }
    },
    asked() {
      const asked = make(current, context)
      const own = asked.location ?? current?.location ?? scope?.location
      const location = own ?? (declaration.tracked ? defaultLocation(id) : undefined)
      const request = attributesOf(parts, compiled, { ...asked, id, location }, body)
      return { now, request, resource: resource() }
    },
  })
  const { words } = parts.registry
  const { reader } = context
  await askGuards(parts.guards, { id, type: declaration.type, effect: 'write', words, reader })
  const verdict = checkPreconditions(method, input.preconditions, current?.etag)
  if (verdict.kind === 'failed') {
    throw refuse.PreconditionFailed({ header: verdict.header, id: id.text })
  }
  requireIfMatch(compiled, method, input, current)

  const made = make(current, context)
  const desired = placed(compiled, id, made, current, scope)
  const bodySchema =
    method === 'PATCH' && typeof version.patch === 'object' ? version.patch.body : version.body
  // That nothing changed would tell that the secret given is the one that is kept.
  const mayBeSame = !givesSecret(declaration.secrets, bodySchema, input.body)
  if (mayBeSame && current !== undefined && !current.deleting && isSame(current, desired)) {
    const running = await tx.runningOperation(id.key)
    if (running !== undefined) {
      return answer(parts, compiled, version, current, 200, readOperation(running))
    }
    if (current.state === 'Succeeded') return answer(parts, compiled, version, current, 200)
  }
  if (current !== undefined && (current.deleting || !isTerminalState(current.state))) {
    throw (
      declaration.busy?.(current) ??
      refuse.AnotherOperationInProgress({ id: id.text, state: current.state })
    )
  }
  const misdirected = receiverProblems(
    declaration.secrets,
    current?.model,
    desired.model,
    input.body,
  )
  if (misdirected.length > 0) throw compiled.refuseProblems(misdirected)
  const problems =
    (await declaration.rules?.({
      ...context,
      id,
      requested: route.scope,
      desired: desired.model,
      previous: current?.model,
      location: desired.location,
      tags: desired.tags,
    })) ?? []
  if (problems.length > 0) throw compiled.refuseProblems(problems)

  const { reconcile } = declaration
  const next: StoredResource = {
    id: current === undefined ? id : recased(id, current),
    ...(desired.location === undefined ? {} : { location: desired.location }),
    ...(desired.tags === undefined ? {} : { tags: desired.tags }),
    systemData: stampSystemData(current?.systemData, input.principal, now),
    state: stateAfter(declaration, current, desired),
    model: desired.model,
    ...(current?.observed === undefined ? {} : { observed: current.observed }),
    etag: parts.ids.uuid(),
    generation: (current?.generation ?? 0) + 1,
    deleting: false,
  }
  const nextRow = writeRow(compiled, next)
  if (current === undefined) await tx.insert(nextRow)
  else await tx.update(nextRow, current.etag)
  const status = current === undefined ? 201 : 200
  let operation: Operation | undefined
  if (reconcile !== undefined && !isTerminalState(next.state)) {
    operation = await openOperation(parts, tx, {
      id: next.id,
      compiled,
      kind: current === undefined ? 'create' : 'update',
      version: route.version,
      principal: input.principal,
      correlationId: input.correlationId,
      action: route.operation,
      now,
      resultStatus: status,
    })
    await tx.schedule(id.key, now)
  } else if (reconcile?.background !== undefined) await tx.schedule(id.key, now)
  const outcome = answer(parts, compiled, version, next, status, operation)
  const changes = changesOf(parts, {
    compiled,
    version,
    before: current,
    after: next,
    shown: outcome.body,
    row,
    body: input.body,
  })
  await recordActivity(tx, {
    at: now,
    trail,
    action: route.operation,
    target: next.id,
    status: operation === undefined ? 'Succeeded' : 'Accepted',
    httpStatus: status,
    ...(operation === undefined ? {} : { operationId: operation.id }),
    ...(changes === undefined ? {} : { changes }),
  })
  if (declaration.feed !== undefined) await tx.follow(declaration.feed, id.key)
  return outcome
}

/** Names show the case of the latest write (facts 9.2). */
function recased(id: ResourceId, current: Resource): ResourceId {
  return id.text === current.id.text ? current.id : id
}

function answer(
  parts: Parts,
  compiled: CompiledType,
  version: Version<unknown>,
  resource: StoredResource,
  status: number,
  operation?: Operation,
): Outcome & { readonly body: object } {
  return {
    status,
    body: show(compiled, version, resource, parts.registry.words),
    etag: resource.etag,
    ...(operation === undefined ? {} : { operation: linkOf(operation, compiled) }),
  }
}

function requireIfMatch(
  compiled: CompiledType,
  method: 'PUT' | 'PATCH',
  input: RunInput,
  current: StoredResource | undefined,
): void {
  const verb = method === 'PUT' ? 'put' : 'patch'
  if (current === undefined || !compiled.declaration.ifMatchRequired?.includes(verb)) return
  if (input.preconditions.ifMatch !== undefined) return
  throw refuse.PreconditionFailed({ header: 'If-Match', id: current.id.text })
}

function desiredNow(current: StoredResource): Desired {
  return { model: current.model, location: current.location, tags: current.tags }
}

function desiredOf(
  compiled: CompiledType,
  version: Version<unknown>,
  body: Readonly<Record<string, unknown>>,
  current: StoredResource | undefined,
  context: Context,
): Desired {
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
    // Checked against the version's schema; `toModel` is typed by that schema in its own file.
    model: version.toModel(body as never, current?.model, context),
    // A blank one is none, to conditions and to what is stored alike.
    location: typeof location === 'string' && location.trim() !== '' ? location : undefined,
    // Checked by `envelopeProblems`.
    tags: (body['tags'] ?? undefined) as Readonly<Record<string, string>> | undefined,
  }
}

/** What the envelope of a body may not say. */
function envelopeProblems(
  parts: Parts,
  compiled: CompiledType,
  id: ResourceId,
  body: Readonly<Record<string, unknown>>,
): readonly Problem[] {
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
  if (!compiled.declaration.tracked) return problems
  if (body['tags'] !== undefined && body['tags'] !== null) {
    problems.push(...tagProblems(body['tags'], parts.limits))
  }
  const location = body['location']
  if (location !== undefined && location !== null && typeof location !== 'string') {
    problems.push({ path: 'location', message: 'expected string' })
  }
  return problems
}

function isSame(current: StoredResource, desired: Desired): boolean {
  return sameJson(current.model, desired.model) && sameJson(current.tags ?? {}, desired.tags ?? {})
}

function patchedTags(
  body: Readonly<Record<string, unknown>>,
  current: StoredResource,
): Desired['tags'] {
  if (body['tags'] === undefined) return current.tags
  // Checked before; `null` takes the tags away, a map replaces the whole map (facts 9.2).
  return (body['tags'] ?? {}) as Desired['tags']
}

function merged(
  parts: Parts,
  compiled: CompiledType,
  version: Version<unknown>,
  body: Readonly<Record<string, unknown>>,
  current: StoredResource,
  context: Context,
): Desired {
  const shown = show(compiled, version, current, parts.registry.words)
  const { tags: _tags, ...rest } = body
  const target = mergePatch(shown, rest)
  checkBody(parts, compiled, version, target)
  // A merge of two objects is one.
  const whole = target as Readonly<Record<string, unknown>>
  const problems = envelopeProblems(parts, compiled, current.id, { ...whole, tags: undefined })
  if (problems.length > 0) throw compiled.refuseProblems(problems)
  return {
    ...desiredOf(compiled, version, whole, current, context),
    tags: patchedTags(body, current),
  }
}

function applied(
  rule: PatchRule<unknown>,
  body: Readonly<Record<string, unknown>>,
  current: StoredResource,
  context: Context,
): Desired {
  return {
    model: rule.apply(body as never, current.model, context),
    location: current.location,
    tags: patchedTags(body, current),
  }
}
