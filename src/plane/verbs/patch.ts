/** PATCH of a stored resource, top to bottom: by the rule of the version, which is a merge patch by default. */

import { refuse } from '#kernel/error.ts'
import { longIntegersIn, longIntegersMax } from '#kernel/exact-json.ts'
import { jsonExcess, jsonSizeLimitsOf } from '#kernel/json-size.ts'
import type { Limits } from '#kernel/limits.ts'
import { isJsonObject, mergePatch } from '#kernel/patch.ts'
import { tagProblems } from '#kernel/tags.ts'
import type { Tx } from '#stores/store.ts'
import { noAttributes } from '../access.ts'
import { canonicalBody, canonicalWords } from '../canonical-body.ts'
import { checkSchema, declaredIn } from '../check.ts'
import type { PlaneDependencies } from '../dependencies.ts'
import { type StoredResource, toWire } from '../document.ts'
import { requireGrant } from '../grant.ts'
import type { WriteRoute } from '../locate.ts'
import { largeDocument } from '../next-turn.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { checkName } from '../scopes.ts'
import { declaredWrite } from './declared-answer.ts'
import { lockForWrite } from './locked-write.ts'
import { notFound } from './not-found.ts'
import { undeclaredMembers } from './patch-members.ts'
import { type Desired, withLocation } from './placement.ts'
import {
  checkBody,
  checkEnvelope,
  commitWrite,
  currentAsDesired,
  desiredOf,
  type JsonBody,
  requireGrantOnRequested,
  requireGrantOnStored,
  requireNotBusy,
  requireRules,
  requireWritePreconditions,
  storeDesired,
  unchangedOutcome,
  type Write,
  type WriteRequest,
} from './write.ts'

export async function runPatch(
  deps: PlaneDependencies,
  route: WriteRoute,
  input: RunInput,
): Promise<Outcome> {
  const body = checkedPatch(deps, route, input.body)
  return declaredWrite(route, await commitWrite({ deps, route, input, body }, patchInside))
}

function checkedPatch(deps: PlaneDependencies, route: WriteRoute, given: unknown): JsonBody {
  const { shape } = route
  const { refuseProblems } = route.compiled
  const body = typeof shape.patch === 'object' ? canonicalWords(shape.patch.body, given) : given
  if (!isJsonObject(body)) {
    throw refuse.InvalidRequestContent({ reason: 'expected a JSON object' })
  }
  if (body['tags'] !== undefined && body['tags'] !== null) {
    const problems = tagProblems(body['tags'], deps.limits)
    if (problems.length > 0) throw refuseProblems(problems)
  }
  if (typeof shape.patch === 'object') {
    const given = shape.patch.isExact === true ? canonicalBody(shape.patch.body, body) : body
    checkSchema(shape.patch.body, shape.unknownProperties, given, refuseProblems)
  }
  return body
}

async function patchInside(request: WriteRequest, tx: Tx): Promise<Outcome> {
  const { route, input } = request
  const write = await lockForWrite(request, tx)
  const { compiled, current, id, now } = write
  if (current === undefined) {
    requireGrant(route, input, () => ({ now, request: 'unknown', resource: noAttributes }))
    checkName(compiled, id, route.shape.name)
    throw notFound(compiled, id)
  }
  let requested: Desired | undefined
  if (input.pending !== undefined) {
    requireGrantOnStored(write)
    requested = patched(write, current)
    requireGrantOnRequested(write, requested)
  }
  await write.guards
  requireWritePreconditions(write, 'PATCH')
  requireDeclared(write, current)
  const desired = withLocation(write, requested ?? patched(write, current))
  const { patch, body } = route.shape
  const unchanged = await unchangedOutcome(
    write,
    desired,
    typeof patch === 'object' ? patch.body : body,
  )
  if (unchanged !== undefined) return unchanged
  requireNotBusy(compiled, current)
  requireSize(write, current, desired)
  await requireRules(write, desired)
  return storeDesired(write, desired)
}

/** Compared with the current resource, since members that equal it are accepted. */
function requireDeclared({ deps, compiled, route, body }: Write, current: StoredResource): void {
  const { patch } = route.shape
  if (typeof patch !== 'object' || patch.isExact !== true) return
  const shown = toWire(compiled, route.shape, current, deps.registry.words)
  const problems = undeclaredMembers(patch.body, body, shown)
  if (problems.length > 0) throw compiled.refuseProblems(problems)
}

/**
 * One PATCH after the other may add to a resource, but together no more than a PUT of all of it could bring. What has
 * passed a bound before is let be as long as it does not grow.
 */
function requireSize({ deps }: Write, current: StoredResource, { model }: Desired): void {
  const { limits } = deps
  const text = JSON.stringify(model) ?? ''
  if (text.length <= Math.min(largeDocument, limits.bodyBytesMax)) return
  const long = longIntegersIn(text)
  const isLarge = isBeyond(limits, text)
  if (!isLarge && long <= longIntegersMax) return
  const before = JSON.stringify(current.model)
  const grows = isLarge && (text.length > before.length || !isBeyond(limits, before))
  if (!grows && (long <= longIntegersMax || long <= longIntegersIn(before))) return
  throw refuse.InvalidRequestContent({ reason: 'the resource would be larger than a body may be' })
}

function isBeyond(limits: Limits, text: string): boolean {
  const bytes = Buffer.from(text)
  const size = { ...jsonSizeLimitsOf(limits), depthMax: Number.POSITIVE_INFINITY }
  return bytes.length > limits.bodyBytesMax || jsonExcess(bytes, size) !== undefined
}

/** The stored state with the patch applied. */
function patched(write: Write, current: StoredResource): Desired {
  const { route, body, context } = write
  const { patch = 'merge' } = route.shape
  const tags = patchedTags(body, current)
  if (patch === 'tags') return { ...currentAsDesired(current), tags }
  if (typeof patch === 'object') {
    // The body was checked against the rule's schema, which types it in the rule's own file.
    const model = patch.apply(body as never, current.model, context)
    return { model, location: current.location, tags }
  }
  return { ...merged(write, current), tags }
}

function patchedTags(body: JsonBody, current: StoredResource): Desired['tags'] {
  if (body['tags'] === undefined) return current.tags
  // Checked before. `null` removes the tags, a map replaces the whole map (facts 9.2).
  return (body['tags'] ?? {}) as Desired['tags']
}

/** Applies a merge patch to the body as this version shows it, and checks the result like the body of a PUT. */
function merged(write: Write, current: StoredResource): Desired {
  const { deps, compiled, route, body } = write
  const { tags: _tags, ...rest } = body
  const target = mergePatch(toWire(compiled, route.shape, current, deps.registry.words), rest)
  const checked = checkBody(route, target)
  const { prepare, preparesUndeclared } = compiled.stored
  const isOpen = prepare === undefined || preparesUndeclared === true
  const whole = isOpen ? checked : declaredIn(route.shape.body, checked)
  checkEnvelope(deps, compiled, current.id, { ...whole, tags: undefined })
  return desiredOf(write, whole)
}
