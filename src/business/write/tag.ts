/** The check of `If-Match` against a row (business facts 8): missing or malformed 400, stale 412 or 409, `*` always fits. */

import { ApiError } from '#kernel/error.ts'
import { matchesEtag } from '#kernel/etag.ts'
import { type Entity, etagOf } from '../entity.ts'
import { refuse } from '../errors.ts'

/** The row that a write is about, as its address and its headers name it. */
export interface Target {
  readonly entity: Entity
  readonly id: string
  readonly ifMatch?: string | undefined
  /** Of lines, the document that the address names. */
  readonly within?: string | undefined
}

const oneTag = '(?:W/)?"[^"]*"'
const form = new RegExp(`^(?:\\*|${oneTag}(?:\\s*,\\s*${oneTag})*)$`)

/** Weak and strong tags are compared alike. `required`: of PATCH; DELETE and actions check what was sent. */
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

/** `W/"x"` → `x`: what `matchesEtag` compares with. */
function opaquePart(tag: string): string {
  return tag.slice(3, -1)
}
