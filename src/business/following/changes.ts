/**
 * Answers reads of sets that a client follows. The first read is of the whole set and ends with a delta link. That
 * link gives the rows that changed or were removed since, with the next link. A filter is applied to the rows as they
 * are now, so a row that no longer matches is told as removed.
 */

import type { Sql } from '#stores/store.ts'
import { refuse } from '../errors.ts'
import { type BusinessAnswer, jsonHeaders } from '../message.ts'
import { below } from '../odata/addressed-row.ts'
import { contentTypeOf } from '../odata/answer-format.ts'
import { Budget } from '../odata/budget.ts'
import { odataLimits } from '../odata/limits.ts'
import { plainOptions } from '../odata/options.ts'
import type { Bounds } from '../odata/path-rows.ts'
import type { Reader } from '../odata/reader.ts'
import type { DataRequest } from '../odata/request.ts'
import { lastSegment, withoutPaging } from '../odata/search-options.ts'
import type { FollowedSetRow } from '../tables.ts'
import {
  badDeltaToken,
  type DeltaPlace,
  formatDeltaToken,
  readDeltaToken,
  requireKept,
} from './delta-token.ts'
import { isFollowed } from './followed.ts'
import {
  type CompanySet,
  changedSince,
  findFollowed,
  firstPosition,
  follow,
  positionNow,
  touch,
} from './history.ts'

interface FollowingDependencies {
  readonly sql: Sql
  readonly now: number
  readonly ids: { uuid(): string; secret(bytes: number): string }
  readonly reader: Reader
  /** The address of the version. */
  readonly root: string
}

type RowsRequest = DataRequest & { readonly kind: 'rows' }

interface Following {
  readonly request: RowsRequest
  readonly bounds: Bounds
  readonly set: CompanySet
  /** The options of the request that belong to its tokens. */
  readonly query: string
}

/** The maximum number of changed rows on a page. */
const changesOnPage = 1_000

/** Undefined if the request does not follow anything, or what it reads cannot be followed. */
export async function readFollowed(
  deps: FollowingDependencies,
  request: DataRequest,
  bounds: Bounds,
): Promise<BusinessAnswer | undefined> {
  if (request.kind !== 'rows') return undefined
  const { deltaToken, tracksChanges, options } = request
  if (deltaToken === undefined && !tracksChanges) return undefined
  const { companyId } = bounds
  const { entity } = lastSegment(request)
  const { expand, top, skip } = options
  const isWhole = expand.length === 0 && top === undefined && skip === 0
  const isSet = request.path.length === 1 && companyId !== undefined && isFollowed(entity)
  if (!isWhole || !isSet) {
    // A preference that cannot be met is not refused.
    if (deltaToken === undefined) return undefined
    throw badDeltaToken()
  }
  const query = `${request.version} ${withoutPaging(request.address.search)}`
  const following = { request, bounds, set: { companyId, entity }, query }
  if (deltaToken === undefined) return await readFirst(deps, following)
  const now = await positionNow(deps.sql, deps.sql.dialect)
  const followed = await findFollowed(deps.sql, following.set)
  const place = readDeltaToken(deltaToken, followed, {
    companyId,
    set: entity.set,
    query,
    now: now.settled,
  })
  if (followed === undefined) throw badDeltaToken()
  if (options.skipToken !== undefined) return await readOn(deps, following, deltaToken)
  const bound = place.after === '' ? { until: now.until, end: now.settled } : {}
  return await readChanges(deps, following, { ...place, ...bound }, followed)
}

/** The position is read before the rows: whatever changes while they are read is told again afterwards. */
async function readFirst(
  deps: FollowingDependencies,
  following: Following,
): Promise<BusinessAnswer | undefined> {
  const followed = await follow(deps, following.set)
  if (followed === undefined) return undefined
  const position = await firstPosition(deps, followed)
  if (position === undefined) return undefined
  const place = { position, after: '', until: 0, end: 0 }
  return await readOn(deps, following, formatDeltaToken(followed, following.query, place))
}

/** A page of the first read. */
async function readOn(
  { sql, reader }: FollowingDependencies,
  { request, bounds }: Following,
  deltaToken: string,
): Promise<BusinessAnswer> {
  return await reader.read({ reads: sql }, request, { ...bounds, deltaToken })
}

async function readChanges(
  deps: FollowingDependencies,
  following: Following,
  place: DeltaPlace,
  followed: FollowedSetRow,
): Promise<BusinessAnswer> {
  const { request, set, query } = following
  const { options, maxPageSize } = request
  const { sql, root, now } = deps
  const page = Math.min(maxPageSize ?? changesOnPage, changesOnPage)
  const ids = await changedSince(sql, set, { ...place, most: page + 1 })
  // What was removed from the log meanwhile may be missing among these.
  requireKept(await findFollowed(sql, set), place)
  const budget = Budget.ofAnswer()
  const texts: string[] = []
  let done = 0
  while (done < Math.min(ids.length, page) && !budget.isSpent) {
    const some = ids.slice(done, Math.min(done + odataLimits.rowsAtOnce, page))
    const more = await textsOf(deps, following, some)
    texts.push(...more)
    budget.spend(
      some.length,
      more.reduce((sum, text) => sum + text.length, 0),
    )
    done += some.length
    await budget.pause()
  }
  const isMore = done < ids.length
  const next = isMore
    ? { ...place, after: ids[done - 1] ?? '' }
    : { position: place.end, after: '', until: 0, end: 0 }
  if (!isMore && now - followed.used_at > usedAgain) await touch(deps, followed)
  const { path, search } = request.address
  const kept = withoutPaging(search)
  const token = `$deltatoken=${formatDeltaToken(followed, query, next)}`
  const link = `${root}/${path}?${kept === '' ? '' : `${kept}&`}${token}`
  const select = options.selected === undefined ? '' : `(${options.selected})`
  const context = `${root}/$metadata#${below(set.companyId)}${set.entity.set}${select}/$delta`
  const head =
    options.format.metadata === 'none' ? '' : `"@odata.context":${JSON.stringify(context)},`
  const name = isMore ? '@odata.nextLink' : '@odata.deltaLink'
  const applied = maxPageSize === undefined ? '' : `, odata.maxpagesize=${page}`
  return {
    status: 200,
    headers: {
      ...jsonHeaders,
      'Content-Type': contentTypeOf(options.format),
      'Preference-Applied': `odata.track-changes${applied}`,
    },
    body: `{${head}"value":[${texts.join(',')}],"${name}":${JSON.stringify(link)}}`,
  }
}

/** How often the use of a followed set is noted. */
const usedAgain = 86_400_000

/** The rows as they are now, or why they are gone. */
async function textsOf(
  { reader, sql: reads }: FollowingDependencies,
  { request, bounds, set: { entity } }: Following,
  ids: readonly string[],
): Promise<readonly string[]> {
  const { version, options } = request
  const asked = { ...options, orderBy: [], skipToken: undefined }
  const rows = await reader.some({ reads }, { ...request, options: asked }, { bounds, ids })
  const missing = ids.filter((id) => !rows.has(id))
  const others =
    missing.length === 0 || options.filter === undefined
      ? new Map<string, string>()
      : await reader.some(
          { reads },
          { ...request, options: plainOptions(entity, version) },
          { bounds, ids: missing },
        )
  return ids.map((id) => {
    const reason = others.has(id) ? 'changed' : 'deleted'
    return rows.get(id) ?? `{"@removed":{"reason":"${reason}"},"id":"${id}"}`
  })
}

/** A batch reads in one state of the store, which has no position. */
export function refuseDeltaInBatch({ kind, ...request }: DataRequest): void {
  if (kind !== 'rows' || request.deltaToken === undefined) return
  throw refuse.BadRequest({ reason: 'A batch follows no delta links: ask for them by themselves.' })
}
