/** Leave for pages of other origins to ask and to read answers (CORS). By tokens only: no cookie counts here. */

import type { IncomingMessage } from 'node:http'

const exposed = [
  'ETag',
  'Location',
  'Retry-After',
  'OData-Version',
  'OData-EntityId',
  'WWW-Authenticate',
  'x-ms-request-id',
  'x-ms-correlation-request-id',
  'x-armature-api-version',
  'x-armature-generic-resource',
]

const preflightSeconds = 600

function allowedOrigin(
  { headers }: IncomingMessage,
  origins: readonly string[],
): string | undefined {
  const { origin } = headers
  if (origins.includes('*')) return '*'
  return origin !== undefined && origins.includes(origin) ? origin : undefined
}

/** Names and values in turn. `Vary` stands on every answer, so that no cache gives one origin's to another. */
export function corsHeaders(
  request: IncomingMessage,
  origins: readonly string[],
  asyncHeader: string,
): readonly string[] {
  const origin = allowedOrigin(request, origins)
  const vary = origin === '*' ? [] : ['Vary', 'Origin']
  if (origin === undefined) return vary
  return [
    ...vary,
    'Access-Control-Allow-Origin',
    origin,
    'Access-Control-Expose-Headers',
    [asyncHeader, ...exposed].join(', '),
  ]
}

/** What a browser asks before a request that is not simple. */
export function preflightHeaders(
  request: IncomingMessage,
  origins: readonly string[],
): Readonly<Record<string, string>> {
  const wanted = request.headers['access-control-request-headers']
  const isPreflight = request.headers['access-control-request-method'] !== undefined
  if (!isPreflight || allowedOrigin(request, origins) === undefined) return {}
  return {
    'Access-Control-Allow-Methods': 'GET, HEAD, PUT, PATCH, DELETE, POST',
    ...(wanted === undefined || !/^[\w ,-]{1,1000}$/.test(wanted)
      ? {}
      : { 'Access-Control-Allow-Headers': wanted }),
    'Access-Control-Max-Age': String(preflightSeconds),
  }
}
