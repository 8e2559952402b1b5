/** PATCH of a computed item, and the tag such an item has. */

import { createHash } from 'node:crypto'
import { duringAct, newAct } from '#activity/act.ts'
import { changesBetween } from '#activity/changes.ts'
import { refuse } from '#kernel/error.ts'
import { checkPreconditions } from '#kernel/etag.ts'
import type { Source } from '../define.ts'
import { askGuards } from '../guard.ts'
import type { LocatedRoute } from '../locate.ts'
import { contextOf, type Parts } from '../parts.ts'
import { requireGrant } from '../permit.ts'
import type { Outcome, RunInput } from '../plane.ts'
import type { CompiledType } from '../registry.ts'
import { recordActivity, trailOf } from '../trail.ts'
import { notFound } from './not-found.ts'

export interface PatchedSource {
  readonly compiled: CompiledType
  readonly patch: NonNullable<Source['patch']>
}

/** Its source writes; guards and the audit trail are as for any other. */
export async function patchSource(
  parts: Parts,
  route: LocatedRoute,
  input: RunInput,
  { compiled, patch }: PatchedSource,
): Promise<Outcome> {
  // What a computed item is, only its type knows: conditions on it cannot hold.
  const now = parts.clock.now()
  requireGrant(route, input, () => ({ now, request: 'unknown', resource: 'unknown' }))
  parts.checker.check(patch.body, 'ignore', input.body, compiled.refuseProblems)
  const context = contextOf(parts, input, now, parts.store)
  const { words, reader } = context
  const { type, source } = compiled.declaration
  await askGuards(parts.guards, { id: route.id, type, effect: 'write', words, reader })
  const asked = { ...context, id: route.id, requested: route.scope, query: input.query }
  const current = await source?.get?.(asked)
  if (current === undefined) throw notFound(compiled, route.id)
  const verdict = checkPreconditions('PATCH', input.preconditions, computedEtag(current))
  if (verdict.kind === 'failed') {
    throw refuse.PreconditionFailed({ header: verdict.header, id: route.id.text })
  }
  // Checked against the schema, by which its own file types it.
  const trail = trailOf(input)
  const act = newAct(trail, route.operation, route.id)
  const body = await duringAct(act, () => patch.apply(asked, input.body as never))
  if (body === undefined) throw notFound(compiled, route.id)
  if (!act.recorded) {
    await parts.store.transact((tx) =>
      recordActivity(tx, {
        at: now,
        trail,
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
