/**
 * Checks `If-Match` against a row (business facts 8): missing or malformed is 400, stale is 412 or 409, `*` always
 * matches.
 */

import { ApiError } from '#kernel/error.ts'
import { matchesEtag } from '#kernel/etag.ts'
import { type Entity, etagOf } from '../entity.ts'
import { refuse } from '../errors.ts'

/** The row that a write addresses, by its path and headers. */
export interface Target {
  readonly entity: Entity
  readonly id: string
  readonly ifMatch?: string | undefined
  /** For lines: the document of the path. */
  readonly within?: string | undefined
}

const oneTag = '(?:W/)?"[^"]*"'
const form = new RegExp(`^(?:\\*|${oneTag}(?:\\s*,\\s*${oneTag})*)$`)

/** Weak and strong tags are compared alike. `required`: for PATCH; DELETE and actions check a sent tag only. */
export function checkTag(
  { entity, id, ifMatch }: Target,
  { revision }: { readonly revision: number },
  required: boolean,
  conflictStatus: 409 | 412,
): void {
  if (ifMatch === undefined) {
    if (!required) return
    throw refuse.BadRequest_InvalidToken({ reason: 'is missing' }, { target: 'If-Match' })
  }
  if (!form.test(ifMatch.trim())) {
    throw refuse.BadRequest_InvalidToken(
      { reason: 'is not a list of tags (`W/"…"`, quotes included)' },
      { target: 'If-Match' },
    )
  }
  const tag = etagOf(id, revision)
  if (matchesEtag(ifMatch, opaquePart(tag))) return
  const { code, message, extra } = refuse.Request_EntityChanged(
    { type: entity.type, etag: tag },
    { target: 'If-Match', headers: { ETag: tag } },
  )
  throw new ApiError(code, conflictStatus, message, extra)
}

/** `W/"x"` → `x`: the form that `matchesEtag` compares. */
function opaquePart(tag: string): string {
  return tag.slice(3, -1)
}
