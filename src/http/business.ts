/**
 * Connects the business application to the edge. Ids, identity, allowances and the bytes of the body belong to the
 * edge; the application gets plain data and returns plain data.
 */

import { Readable } from 'node:stream'
import type { Version } from '#business/entity.ts'
import { businessErrors } from '#business/errors.ts'
import { isBatchPath, isSmallRead } from '#business/odata/address.ts'
import type { Business } from '#business/service.ts'
import { UnnamedFile } from '#files/unnamed-file.ts'
import { refuse } from '#kernel/error.ts'
import type { Bytes } from '#kernel/stored-bytes.ts'
import { isUuid } from '#kernel/uuid.ts'
import { freeTurn } from '#plane/next-turn.ts'
import type { Outcome } from '#plane/plane.ts'
import {
  announcesBody,
  authorizeAgain,
  awaitedBy,
  deadlineOf,
  type Edge,
  type Endpoint,
  type Exchange,
  enterAnswerRoom,
  principalOf,
  requestFrom,
} from './exchange.ts'
import { bytesOf, type LargeBodyRules } from './steps/read-body.ts'

/**
 * Path prefixes that clients of hosted installations write before `/api`: the environment, or the tenant and the
 * environment.
 */
export const businessFronts = ['', '/v2.0/:environment', '/v2.0/:tenant/:environment'] as const

/** The endpoints of one version below one of `businessFronts`, by how a method is counted. */
export function businessEndpoints(
  business: Business,
  version: Version,
  front: (typeof businessFronts)[number],
): { readonly byMethod: ReadonlyMap<string, Endpoint>; readonly other: Endpoint } {
  const frontSegments = front.split('/').length
  const beforePath = `/api/${version}`.length
  const endpoint = (counts: Endpoint['counts']): Endpoint => ({
    kind: 'business',
    type: `business ${version}`,
    body: 'optional',
    counts,
    authorize: () => {},
    async run(exchange, edge) {
      const before = front === '' ? '' : exchange.path.split('/', frontSegments).join('/')
      if (front !== '') checkFront(exchange)
      const path = exchange.path.slice(before.length + beforePath).replace(/^\//, '')
      let file: Promise<UnnamedFile> | undefined
      const signal = deadlineOf(exchange)
      try {
        const body = await bodyOf(exchange, edge, {
          isBatch: isBatchPath(path),
          admit: () => business.admitLarge(principalOf(exchange)),
          file() {
            file = UnnamedFile.create(edge.temporaryFolder)
            return file
          },
        })
        return await answerOf(exchange, edge, {
          business,
          version,
          before,
          path,
          body,
          signal,
        })
      } finally {
        // Whoever waited for it knows why it was not made.
        await file?.then(
          (made) => made[Symbol.asyncDispose](),
          () => undefined,
        )
      }
    },
  })
  const other = endpoint('writes')
  const reads = endpoint('reads')
  return {
    byMethod: new Map([
      ['GET', reads],
      ['HEAD', reads],
      ['DELETE', endpoint('deletes')],
    ]),
    other,
  }
}

interface BusinessTarget {
  readonly business: Business
  readonly version: Version
  /** What the client wrote before `/api`. */
  readonly before: string
  readonly path: string
  readonly body: Bytes | undefined
  /** Aborted at the deadline. */
  readonly signal: AbortSignal
}

async function answerOf(
  exchange: Exchange,
  edge: Edge,
  { business, version, before, path, body, signal }: BusinessTarget,
): Promise<Outcome> {
  const { counts } = exchange
  // Lists and batches may be large and take long to write.
  const mayBeLarge = counts === 'reads' ? !isSmallRead(path, exchange.search) : isBatchPath(path)
  if (mayBeLarge) await enterAnswerRoom(exchange, edge)
  await freeTurn(principalOf(exchange).id)
  const answer = await business.handle({
    signal,
    awaited: awaitedBy(exchange),
    method: exchange.method,
    version,
    path,
    search: exchange.search,
    headers: headersOf(exchange),
    body,
    principal: principalOf(exchange),
    rightsRefresh: exchange.rightsRefresh,
    correlationId: exchange.correlationId,
    publicUrl: edge.publicUrlOf(exchange.request) + before,
    admit(counts) {
      const { id } = principalOf(exchange)
      const refusal = edge.throttle.takeMany(id, counts, edge.clock.now())
      if (refusal !== undefined) throw refusal
    },
    async authorizeAgain() {
      await authorizeAgain(exchange, edge)
      return principalOf(exchange)
    },
    // Reads leave no record.
    ...(counts === 'reads' ? {} : { from: requestFrom(exchange, edge) }),
  })
  const { status, headers, body: text, bytes } = answer
  const made = bytes === undefined ? text : Readable.from([bytes])
  return { status, headers, ...(made === undefined ? {} : { body: made }) }
}

/** An installation is one environment, whatever clients call it. A tenant given by id must be the caller's. */
function checkFront(exchange: Exchange): void {
  const { tenant = '', environment = '' } = exchange.params
  const own = principalOf(exchange).tenantId
  if (isUuid(tenant) && tenant.toLowerCase() !== own.toLowerCase()) {
    throw businessErrors.refuse.BadRequest_NotFound({ name: tenant })
  }
  if (environment !== '' && !/^[A-Za-z0-9_-]{1,30}$/.test(environment)) {
    throw businessErrors.refuse.BadRequest_NotFound({ name: environment.slice(0, 60) })
  }
}

/** `/api` with a version that does not exist. */
export const noSuchVersion: Endpoint = {
  kind: 'business',
  type: 'business',
  body: 'none',
  counts: 'reads',
  authorize: () => {},
  run(exchange) {
    const [name = ''] = (exchange.params['*'] ?? '').split('/')
    throw businessErrors.refuse.BadRequest_NotFound({ name: name.slice(0, 60) })
  },
}

/** One value per name, as HTTP joins them. */
function headersOf({ request }: Exchange): Readonly<Record<string, string | undefined>> {
  const { headers } = request
  // `set-cookie` is the only header whose value is a list; without it every value is text.
  if (headers['set-cookie'] === undefined) return headers as Readonly<Record<string, string>>
  return { ...headers, 'set-cookie': headers['set-cookie'].join(', ') } as Record<string, string>
}

async function bodyOf(
  exchange: Exchange,
  edge: Edge,
  { isBatch, ...large }: { readonly isBatch: boolean } & Omit<LargeBodyRules, 'limit'>,
): Promise<Bytes | undefined> {
  const { request } = exchange
  const limit = edge.limits.businessBodyBytesMax
  if (exchange.counts === 'reads' || !announcesBody(request)) return undefined
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') {
    throw refuse.UnsupportedMediaType({ type: `Content-Encoding: ${encoding.slice(0, 40)}` })
  }
  const type = (request.headers['content-type'] ?? 'application/json')
    .split(';')[0]
    ?.trim()
    .toLowerCase()
  if (!isBatch && type !== '' && type !== 'application/json') {
    throw refuse.UnsupportedMediaType({ type: String(type).slice(0, 100) })
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    throw refuse.RequestEntityTooLarge({ limit })
  }
  const bytes = await bytesOf(exchange, edge, { large: { ...large, limit } })
  return bytes.length === 0 ? undefined : bytes
}
