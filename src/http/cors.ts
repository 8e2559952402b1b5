/** Lets pages of other origins send requests and read answers (CORS). With tokens only: no cookie is accepted here. */

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

/** Names and values alternate. Every answer has `Vary`, so that no cache gives one origin's answer to another. */
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

/** The answer to a browser's preflight request. */
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
