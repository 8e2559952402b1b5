/** PUT, top to bottom. A PUT that changes nothing writes nothing. */

import type { TSchema } from 'typebox'
import type { ApiError } from '#kernel/error.ts'
import type { Tx } from '#stores/store.ts'
import { envelopeMembers } from '../check.ts'
import { contextOf, type PlaneDependencies } from '../dependencies.ts'
import type { WriteRoute } from '../locate.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { checkName, mayCreateScopes } from '../scopes.ts'
import { bringAlong } from './bring-along.ts'
import { type Desired, withLocation } from './placement.ts'
import { askRightsBefore } from './rights-before.ts'
import {
  askWriteGuards,
  checkBody,
  checkEnvelope,
  commitWrite,
  desiredOf,
  type JsonBody,
  lockForWrite,
  openWriteRequest,
  requireGrantOnRequested,
  requireGrantOnStored,
  requireNotBusy,
  requireRules,
  requireWritePreconditions,
  storeDesired,
  unchangedOutcome,
  uniqueRefusal,
  type WriteRequest,
} from './write.ts'

export async function runPut(
  deps: PlaneDependencies,
  route: WriteRoute,
  input: RunInput,
): Promise<Outcome> {
  const body = await checkedBody(deps, route, input)
  const request = await openWriteRequest(deps, route, input, body)
  return commitWrite(request, (tx) => putInside(request, tx))
}

/** The body as far as it can be checked without a transaction, completed by the type where it does so. */
async function checkedBody(
  deps: PlaneDependencies,
  route: WriteRoute,
  input: RunInput,
): Promise<JsonBody> {
  const { compiled, shape, id } = route
  checkName(compiled, id, shape.name)
  // A body of one's own is an object, and of its schema.
  const body = input.isOwnBody === true ? (input.body as JsonBody) : checkBody(route, input.body)
  checkEnvelope(deps, compiled, route.scope, body)
  if (compiled.stored.prepare === undefined) return body
  const context = contextOf(deps, input, deps.clock.now(), deps.store)
  const given = compiled.stored.preparesUndeclared === true ? body : declaredIn(shape.body, body)
  const prepared = await compiled.stored.prepare({ ...context, id }, given as never)
  // A prepared body has the type of the body it was made of.
  return (prepared ?? given) as JsonBody
}

/** What a type's own code puts into a body is never the caller's: without what the schema does not name. */
function declaredIn({ properties }: TSchema & { properties?: object }, body: JsonBody): JsonBody {
  // Alternatives name theirs one by one.
  if (properties === undefined) return body
  const isDeclared = (name: string): boolean =>
    envelopeMembers.includes(name) || Object.hasOwn(properties, name)
  const members = Object.entries(body)
  if (members.every(([name]) => isDeclared(name))) return body
  return Object.fromEntries(members.filter(([name]) => isDeclared(name)))
}

async function putInside(request: WriteRequest, tx: Tx): Promise<Outcome> {
  const { input, body, route } = request
  const write = await lockForWrite(request, tx)
  let requested: Desired | undefined
  if (input.pending !== undefined) {
    requireGrantOnStored(write)
    requested = desiredOf(write, body)
    requireGrantOnRequested(write, requested, body)
  }
  await askWriteGuards(write)
  requireWritePreconditions(write, 'PUT')
  const desired = withLocation(write, requested ?? desiredOf(write, body))
  const brought = await bringAlong(write)
  const unchanged = brought ? undefined : await unchangedOutcome(write, desired, route.shape.body)
  if (unchanged !== undefined) return unchanged
  requireNotBusy(write.compiled, write.current)
  await requireRules(write, desired)
  return storeDesired(write, desired)
}

/** The inside of a PUT, for a transaction that others decide on. */
export interface DryRunPut {
  /** Throws as `runPut` does, but for unique keys: those are the store's conflict here. */
  run(tx: Tx): Promise<Outcome>
  /** What `runPut` would throw of a unique key that is taken. Asked outside transactions. */
  uniqueRefusal(key: string): Promise<ApiError>
}

export async function prepareDryRun(
  deps: PlaneDependencies,
  route: WriteRoute,
  input: RunInput,
): Promise<DryRunPut> {
  const body = await checkedBody(deps, route, input)
  const mayCreate = await mayCreateScopes(deps, input.principal)
  const rights = await askRightsBefore(deps, route, input, body)
  const request = { deps, route, input, body, rights, mayCreateScopes: mayCreate }
  return {
    run: (tx) => putInside(request, tx),
    uniqueRefusal: (key) => uniqueRefusal(request, key),
  }
}
