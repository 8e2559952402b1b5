/**
 * The business application behind the edge: ids, identity, allowance and the bytes of the body are the edge's, all
 * else is the application's, which is given plain data and gives plain data back.
 */

import { Readable } from 'node:stream'
import type { Version } from '#business/entity.ts'
import { businessErrors } from '#business/errors.ts'
import type { Business } from '#business/service.ts'
import { refuse } from '#kernel/error.ts'
import { isUuid } from '#kernel/uuid.ts'
import { nextTurn } from '#plane/next-turn.ts'
import {
  announcesBody,
  type Edge,
  type Endpoint,
  type Exchange,
  enterAnswerRoom,
  principalOf,
  requestFrom,
} from './exchange.ts'
import { bytesOf, gone } from './steps/read-body.ts'

/** Bytes of a body that is written in the turn in which it came. */
const writtenAtOnceMax = 8 * 1024

/** What clients of hosted installations write in front of `/api`: the environment, or the tenant and it. */
export const businessFronts = ['', '/v2.0/:environment', '/v2.0/:tenant/:environment'] as const

/** The endpoints of one version behind one of `businessFronts`, by what a method counts as. */
export function businessEndpoints(
  business: Business,
  version: Version,
  front: (typeof businessFronts)[number],
): { readonly byMethod: ReadonlyMap<string, Endpoint>; readonly other: Endpoint } {
  const frontSegments = front.split('/').length
  const endpoint = (counts: Endpoint['counts']): Endpoint => ({
    kind: 'business',
    type: `business ${version}`,
    body: 'optional',
    counts,
    authorize: () => {},
    async run(exchange, edge) {
      const before = exchange.path.split('/', frontSegments).join('/')
      checkFront(exchange)
      const body = await bodyOf(exchange, edge)
      // Rows or a batch, which may be large, and what takes long to write.
      const mayBeLarge = counts === 'reads' || exchange.path.endsWith('/$batch')
      if (mayBeLarge && !(await enterAnswerRoom(exchange, edge))) throw gone()
      if (mayBeLarge || (body !== undefined && body.length > writtenAtOnceMax)) await nextTurn()
      exchange.deadline = new AbortController()
      const answer = await business.handle({
        signal: exchange.deadline.signal,
        method: exchange.method,
        version,
        path: exchange.path.slice(`${before}/api/${version}`.length).replace(/^\//, ''),
        search: exchange.search,
        headers: headersOf(exchange),
        body,
        principal: principalOf(exchange),
        correlationId: exchange.correlationId,
        publicUrl: edge.publicUrlOf(exchange.request) + before,
        admit(counts) {
          const { id } = principalOf(exchange)
          const refusal = edge.throttle.takeMany(id, counts, edge.clock.now())
          if (refusal !== undefined) throw refusal
        },
        from: requestFrom(exchange, edge),
      })
      const { status, headers, body: text, bytes } = answer
      const made = bytes === undefined ? text : Readable.from([bytes])
      return { status, headers, ...(made === undefined ? {} : { body: made }) }
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

/** An installation is one environment, whatever clients call it; a tenant that is named by its id is the caller's. */
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

/** `/api` beside the versions there are. */
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
  // Only of this one the runtime makes a list; so without it every value is a text.
  if (headers['set-cookie'] === undefined) return headers as Readonly<Record<string, string>>
  return { ...headers, 'set-cookie': headers['set-cookie'].join(', ') } as Record<string, string>
}

async function bodyOf(exchange: Exchange, edge: Edge): Promise<Uint8Array | undefined> {
  const { request } = exchange
  const limit = edge.limits.bodyBytesMax
  if (exchange.counts === 'reads' || !announcesBody(request)) return undefined
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') {
    throw refuse.UnsupportedMediaType({ type: `Content-Encoding: ${encoding.slice(0, 40)}` })
  }
  const type = (request.headers['content-type'] ?? 'application/json')
    .split(';')[0]
    ?.trim()
    .toLowerCase()
  if (!exchange.path.endsWith('/$batch') && type !== '' && type !== 'application/json') {
    throw refuse.UnsupportedMediaType({ type: String(type).slice(0, 100) })
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    throw refuse.RequestEntityTooLarge({ limit })
  }
  const bytes = await bytesOf(exchange, edge)
  return bytes.length === 0 ? undefined : bytes
}
