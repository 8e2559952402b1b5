/** PUT, PATCH and DELETE of a computed item, and the tag such an item has. */

import { createHash } from 'node:crypto'
import { changesBetween } from '#activity/changes.ts'
import { newRequestActivity, withRequestActivity } from '#activity/request-activity.ts'
import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import { initiatorOf, recordActivity } from '../audit.ts'
import { canonicalWords } from '../canonical-body.ts'
import { contextOf, type PlaneDependencies } from '../dependencies.ts'
import { requireGrant } from '../grant.ts'
import { askGuards } from '../guard.ts'
import type { ComputedWriteRoute } from '../locate.ts'
import type { Outcome, RunInput } from '../plane.ts'
import { notFound } from './not-found.ts'

/** Its source writes; guards and the audit trail are as for any other. */
export async function writeComputed(
  deps: PlaneDependencies,
  route: ComputedWriteRoute,
  input: RunInput,
): Promise<Outcome> {
  const { compiled, write, method, source } = route
  // What a computed item is, only its type knows: conditions on it cannot hold.
  const now = deps.clock.now()
  requireGrant(route, input, () => ({ now, request: 'unknown', resource: 'unknown' }))
  const given = write.body === undefined ? undefined : canonicalWords(write.body, input.body)
  if (write.body !== undefined) {
    deps.checker.check(write.body, 'ignore', given, compiled.refuseProblems)
  }
  const context = contextOf(deps, input, now, deps.store)
  const { words, reader } = context
  const { type } = compiled.declaration
  await askGuards(deps.guards, { id: route.id, type, effect: 'write', words, reader })
  const requested = {
    ...context,
    id: route.id,
    requested: route.scope,
    query: input.query,
    ...(input.from === undefined ? {} : { from: input.from }),
  }
  const current = await source.get?.(requested)
  if (current === undefined) throw notFound(compiled, route.id)
  const verdict = checkPreconditions(method, input.preconditions, computedEtag(current))
  if (verdict.kind === 'failed') {
    throw refuse.PreconditionFailed({ header: verdict.header, id: route.id.text })
  }
  // Checked against the schema, by which its own file types it.
  const initiator = initiatorOf(input)
  const requestActivity = newRequestActivity(initiator, route.operation, route.id)
  const body = await withRequestActivity(requestActivity, () =>
    write.apply(requested, given as never),
  )
  if (body === undefined) throw notFound(compiled, route.id)
  if (!requestActivity.recorded) {
    await deps.store.transact((tx) =>
      recordActivity(tx, {
        at: now,
        initiator,
        action: route.operation,
        target: route.id,
        status: 'Succeeded',
        httpStatus: 200,
        changes: changesBetween(current, body),
      }),
    )
  }
  return { status: 200, body, etag: computedEtag(body) }
}

/** The tag of an item that is computed: what its answer says. */
export function computedEtag(item: object): string {
  return createHash('sha256').update(JSON.stringify(item)).digest('base64url')
}
