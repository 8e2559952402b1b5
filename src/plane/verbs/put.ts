/** PUT, top to bottom. A PUT that changes nothing writes nothing. */

import { type ApiError, refuse } from '#kernel/error.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Reads, Tx } from '#stores/store.ts'
import { initiatorOf, recordActivity } from '../audit.ts'
import { declaredIn } from '../check.ts'
import type { RightElsewhere } from '../declare/stored.ts'
import { contextOf, type PlaneDependencies } from '../dependencies.ts'
import { readRow, toWire } from '../document.ts'
import type { WriteRoute } from '../locate.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { checkName } from '../scopes.ts'
import { answerOf, declaredWrite } from './declared-answer.ts'
import { lockForWrite } from './locked-write.ts'
import { type Desired, withLocation } from './placement.ts'
import { pollUntilFound } from './poll-until-found.ts'
import { replaceChildren } from './replace-children.ts'
import { askRightsBefore, holdsAll, notingRights } from './rights-before.ts'
import type { SharedChecks } from './shared-checks.ts'
import {
  type CheckedWrite,
  checkBody,
  checkEnvelope,
  commitWrite,
  desiredOf,
  type JsonBody,
  requireGrantOnRequested,
  requireGrantOnStored,
  requireNotBusy,
  requireRules,
  requireWritePreconditions,
  storeDesired,
  unchangedOutcome,
  uniqueRefusal,
  type Write,
  type WriteRequest,
} from './write.ts'

export async function runPut(
  deps: PlaneDependencies,
  route: WriteRoute,
  given: RunInput,
): Promise<Outcome> {
  const held = new Map<string, RightElsewhere>()
  const prepared = async (): Promise<JsonBody> =>
    checkedBody(deps, route, given, { reads: deps.store, held })
  const body = given.checkedBody ?? (await prepared())
  const { prepare, onlyPutShows } = route.compiled.stored
  const input = prepare === undefined ? given : await authorizedAgain(given)
  const checked: CheckedWrite = {
    deps,
    route,
    input,
    body,
    // A write may wait for seconds behind others, and what takes a right away be among them.
    async requireStillPrepared() {
      if (held.size === 0 || (await holdsAll(deps, input.principal, held.values()))) return
      // The type says what is missing; where nothing is by now, the caller tries again.
      await prepared()
      throw refuse.Conflict({ id: route.id.text })
    },
  }
  const written = await commitWrite(checked, putInside)
  const outcome = written.operation === undefined ? written : await awaited(checked, written)
  if (onlyPutShows === undefined) return declaredWrite(route, outcome)
  return declaredWrite(route, await withPutMembers(checked, outcome))
}

/** The outcome as it is when the work in the background has ended, for types that wait for it. */
async function awaited({ deps, route, input }: CheckedWrite, outcome: Outcome): Promise<Outcome> {
  const { compiled, shape, id } = route
  const effect = outcome.status === 201 ? 'created' : 'changed'
  if (outcome.operation === undefined || answerOf(compiled, effect).isAwaited !== true) {
    return outcome
  }
  const ended = await pollUntilFound(deps, input, async () => {
    const row = await deps.store.get(id.key)
    const resource = row && readRow(row)
    // Another write may follow this one, or a deletion; its own answer tells of it.
    if (resource === undefined || resource.deleting) return outcome
    if (!isTerminalState(resource.state)) return undefined
    const body = toWire(compiled, shape, resource, deps.registry.words)
    return { ...outcome, body, etag: resource.etag }
  })
  return ended ?? outcome
}

/** A type that completes a body may wait for others meanwhile: an identity provider, a thread. */
async function authorizedAgain(input: RunInput): Promise<RunInput> {
  const { authorizeAgain } = input
  if (authorizeAgain === undefined) return input
  return { ...input, pending: await authorizeAgain() }
}

/** Adds what only the answer of a PUT shows. */
async function withPutMembers(
  { deps, route, input, body: given }: CheckedWrite,
  outcome: Outcome,
): Promise<Outcome> {
  const { onlyPutShows } = route.compiled.stored
  const { body } = outcome
  if (onlyPutShows === undefined || input.from === undefined) return outcome
  if (!isJsonObject(body)) return outcome
  const context = contextOf(deps, input, deps.clock.now(), deps.store)
  const properties = { ...(body['properties'] ?? {}) }
  const more = await onlyPutShows({ ...context, id: route.id, body: given })
  // It may be a secret, and a PUT that changed nothing has left no record yet.
  if (outcome.isUnchanged === true && Object.keys(more).length > 0) {
    await deps.store.transact((tx) =>
      recordActivity(tx, {
        at: context.now,
        initiator: initiatorOf(input),
        action: route.operation,
        target: route.id,
        status: 'Succeeded',
        httpStatus: outcome.status,
      }),
    )
  }
  return { ...outcome, body: { ...body, properties: { ...properties, ...more } } }
}

interface Preparing {
  readonly reads: Reads
  /** Gets the rights by which the type completes the body. */
  readonly held: Map<string, RightElsewhere>
}

/** Checks the body as far as that needs no transaction, and lets the type complete it. */
function checkedBody(
  deps: PlaneDependencies,
  route: WriteRoute,
  input: RunInput,
  preparing: Preparing,
): JsonBody | Promise<JsonBody> {
  const { compiled, shape, id } = route
  checkName(compiled, id, shape.name)
  // The installation's own body is an object and valid by its type.
  const body = input.isOwnBody === true ? (input.body as JsonBody) : checkBody(route, input.body)
  checkEnvelope(deps, compiled, route.scope, body)
  return compiled.stored.prepare === undefined
    ? body
    : preparedBody(deps, route, input, { ...preparing, body })
}

async function preparedBody(
  deps: PlaneDependencies,
  { compiled, shape, id }: WriteRoute,
  input: RunInput,
  { reads, held, body }: Preparing & { readonly body: JsonBody },
): Promise<JsonBody> {
  const context = notingRights(contextOf(deps, input, deps.clock.now(), reads), held)
  const given = compiled.stored.preparesUndeclared === true ? body : declaredIn(shape.body, body)
  const prepared = await compiled.stored.prepare?.({ ...context, id }, given as never)
  // A prepared body has the type of the body it was made from.
  return (prepared ?? given) as JsonBody
}

/** `locked` is its write where others were locked with it. */
export async function putInside(request: WriteRequest, tx: Tx, locked?: Write): Promise<Outcome> {
  const { input, body, route } = request
  const write = locked ?? (await lockForWrite(request, tx))
  let requested: Desired | undefined
  if (input.pending !== undefined) {
    requireGrantOnStored(write)
    requested = desiredOf(write, body)
    requireGrantOnRequested(write, requested, body)
  }
  if (write.guards !== undefined) await write.guards
  requireWritePreconditions(write, 'PUT')
  const desired = withLocation(write, requested ?? desiredOf(write, body))
  // Most types bring no children, most resources of a deployment are new: nothing is awaited for what cannot be.
  const brought = write.rights.brought !== undefined && (await replaceChildren(write))
  if (!brought && write.current !== undefined) {
    const unchanged = await unchangedOutcome(write, desired, route.shape.body)
    if (unchanged !== undefined) return unchanged
  }
  requireNotBusy(write.compiled, write.current)
  await requireRules(write, desired)
  return storeDesired(write, desired)
}

/** The inner part of a PUT, for a transaction that the caller of this function controls. */
export interface DryRunPut {
  /** Throws like `runPut`, except that a taken unique key is reported as the store's conflict. */
  run(tx: Tx): Promise<Outcome>
  /** Undefined where the type completes the body by what it reads, which may be otherwise later. */
  readonly checkedBody: JsonBody | undefined
  /** What `runPut` would throw for a taken unique key. Called outside transactions. */
  uniqueRefusal(key: string): Promise<ApiError>
}

/** The type completes the body by `reads`: the rows of the dry run, so that it finds what an earlier PUT of the plan made. */
export async function prepareDryRun(
  deps: PlaneDependencies,
  route: WriteRoute,
  input: RunInput,
  { reads, shared }: { readonly reads: Reads; readonly shared: SharedChecks },
): Promise<DryRunPut> {
  const checked = checkedBody(deps, route, input, { reads, held: new Map() })
  const body = checked instanceof Promise ? await checked : checked
  const { mayCreateScopes } = shared
  const answered = askRightsBefore(deps, route, input, body)
  const rights = answered instanceof Promise ? await answered : answered
  const request = { deps, route, input, body, rights, mayCreateScopes, shared }
  return {
    run: (tx) => putInside(request, tx),
    checkedBody: route.compiled.stored.prepare === undefined ? body : undefined,
    uniqueRefusal: (key) => uniqueRefusal(request, key),
  }
}
