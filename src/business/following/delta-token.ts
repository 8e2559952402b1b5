/**
 * The tokens of delta links: a position in the log of a followed set, signed with the set's secret. A token belongs to
 * one set of one company and to one query. Pure.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { refuse } from '../errors.ts'
import type { FollowedSetRow } from '../tables.ts'

export interface DeltaPlace {
  /** Changes from this position on are shown. */
  readonly position: number
  /** Within several pages: the last row of the page before. Empty at the first page. */
  readonly after: string
  /** Within several pages: the position where the changes end, and the one that the link at the end has. */
  readonly until: number
  readonly end: number
}

type Followed = Pick<FollowedSetRow, 'id' | 'company_id' | 'set_name' | 'secret' | 'kept_from'>

export function formatDeltaToken(followed: Followed, query: string, place: DeltaPlace): string {
  const { id, company_id, set_name } = followed
  const { position, after, until, end } = place
  const content = [id, company_id, set_name, position, after, until, end]
  const text = Buffer.from(content.join(' ')).toString('base64url')
  return `${text}.${signatureOf(followed, text, query).toString('base64url')}`
}

/** `now`: the position of the log, before which every token was made. */
export function readDeltaToken(
  token: string,
  followed: Followed | undefined,
  {
    companyId,
    set,
    query,
    now,
  }: {
    readonly companyId: string
    readonly set: string
    readonly query: string
    readonly now: number
  },
): DeltaPlace {
  const [text = '', signature = '', ...more] = token.split('.')
  const [id, company, name, position, after, until, end] = Buffer.from(text, 'base64url')
    .toString()
    .split(' ')
  const isWhole =
    more.length === 0 &&
    after !== undefined &&
    [position, until, end].every((one) => Number.isSafeInteger(Number(one ?? Number.NaN)))
  if (!isWhole || company !== companyId || name !== set) throw badDeltaToken()
  // The set was not followed for a while, so changes are missing.
  if (followed === undefined || followed.id !== id) throw refuse.Request_DeltaLinkExpired({ set })
  const own = signatureOf(followed, text, query)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== own.length || !timingSafeEqual(given, own)) throw badDeltaToken()
  const place = { position: Number(position), after, until: Number(until), end: Number(end) }
  requireKept(followed, place)
  // A position of the future is one of a log that was replaced by an older one.
  if (place.position > now) throw refuse.Request_DeltaLinkExpired({ set })
  return place
}

export function requireKept(followed: Followed | undefined, { position }: DeltaPlace): void {
  if (followed !== undefined && position >= followed.kept_from) return
  throw refuse.Request_DeltaLinkExpired({ set: followed?.set_name ?? 'the set' })
}

function signatureOf({ secret }: Followed, text: string, query: string): Buffer {
  return createHmac('sha256', secret).update(`${text}\n${query}`).digest()
}

export function badDeltaToken(): Error {
  return refuse.Application_FilterErrorException({
    option: '$deltatoken',
    reason: 'follow @odata.deltaLink exactly as it was given, on its own.',
  })
}
