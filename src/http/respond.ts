/**
 * The only place that writes status codes and headers and makes links absolute. It decides nothing: it gets an
 * outcome or a failure and sends it.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { formatEtag } from '#kernel/etag.ts'
import { isUuid } from '#kernel/uuid.ts'
import { brandHeader } from '#kernel/vendor.ts'
import type { Outcome } from '#plane/plane.ts'
import { addressGroupOf } from './client-address.ts'
import { corsHeaders } from './cors.ts'
import { type Edge, type Exchange, originOfExchange } from './exchange.ts'
import { permissionOf } from './permission.ts'
import { dropBody } from './unread-body.ts'

const jsonType = 'application/json; charset=utf-8'

/** Header names and values alternate, as `writeHead` takes them without building an object first. */
type FlatHeaders = string[]

export function respond(exchange: Exchange, edge: Edge, outcome: Outcome): void | Promise<void> {
  if (exchange.answered) return
  // The client is gone, so no answer is built.
  if (exchange.request.socket.destroyed) {
    exchange.answered = true
    recordRequest(exchange, edge, outcome.status)
    return
  }
  const { body } = outcome
  const head = { status: outcome.status, headers: outcomeHeaders(exchange, edge, outcome) }
  if (body === undefined) return writeText(exchange, edge, head, undefined)
  if (typeof body === 'string' || !(Symbol.asyncIterator in body)) {
    const text = withNextLink(exchange, edge, body, outcome.nextToken)
    return writeText(exchange, edge, head, text)
  }
  return writeStream(exchange, edge, head, body)
}

interface FailureAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

/** Writes a refusal. Once an answer has begun, the connection can only be cut. */
export function respondFailure(exchange: Exchange, edge: Edge, failure: FailureAnswer): void {
  if (exchange.response.headersSent) {
    if (!exchange.response.writableEnded) exchange.response.destroy()
    return
  }
  const headers = commonHeaders(exchange, edge, failure.headers)
  writeText(exchange, edge, { status: failure.status, headers }, JSON.stringify(failure.body))
}

/** Headers of every answer (facts 9.1), unless `own` sets them. */
function commonHeaders(
  exchange: Exchange,
  edge: Edge,
  own: Readonly<Record<string, string>> | undefined,
): FlatHeaders {
  const { requestId } = exchange
  const headers: FlatHeaders = [
    'x-ms-request-id',
    requestId,
    'x-ms-correlation-request-id',
    exchange.correlationId,
    'x-ms-routing-request-id',
    `${edge.region}:${edge.routingStamp(edge.clock.now())}:${requestId}`,
    'Cache-Control',
    'no-cache',
    'Pragma',
    'no-cache',
    'Expires',
    '-1',
    'X-Content-Type-Options',
    'nosniff',
  ]
  if (edge.strictTransport) headers.push(...strictTransportHeader)
  if (edge.corsOrigins.length > 0)
    headers.push(
      ...corsHeaders(exchange.request, edge.corsOrigins, brandHeader(edge.words, 'AsyncOperation')),
    )
  if (edge.isDraining()) headers.push('Connection', 'close')
  const { allowance, route } = exchange
  if (route?.nearestVersion !== undefined) {
    headers.push('x-armature-api-version', route.nearestVersion)
  }
  if (route?.answerHeaders !== undefined) override(headers, route.answerHeaders)
  if (allowance !== undefined) headers.push(allowance.header, String(allowance.remaining))
  echoClientRequestId(exchange.request, headers)
  if (own !== undefined) override(headers, own)
  return headers
}

function echoClientRequestId(request: IncomingMessage, headers: FlatHeaders): void {
  const id = request.headers['x-ms-client-request-id']
  if (typeof id !== 'string' || !isUuid(id)) return
  const wish = request.headers['x-ms-return-client-request-id']
  if (typeof wish === 'string' && wish.toLowerCase() === 'true') {
    headers.push('x-ms-client-request-id', id)
  }
}

function override(headers: FlatHeaders, own: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(own)) {
    const at = indexOfHeader(headers, name.toLowerCase())
    if (at < 0) headers.push(name, value)
    else headers[at + 1] = value
  }
}

function outcomeHeaders(exchange: Exchange, edge: Edge, outcome: Outcome): FlatHeaders {
  const own =
    outcome.headers === undefined || outcome.status >= 300
      ? outcome.headers
      : withAbsoluteLinks(exchange, edge, outcome.headers)
  const headers = commonHeaders(exchange, edge, own)
  if (outcome.etag !== undefined) headers.push('ETag', formatEtag(outcome.etag))
  const { operation } = outcome
  if (operation !== undefined) {
    const origin = edge.publicUrlOf(exchange.request)
    headers.push(
      'Location',
      origin + operation.resultPath,
      brandHeader(edge.words, 'AsyncOperation'),
      origin + operation.statusPath,
      'Retry-After',
      String(operation.retryAfterSeconds),
    )
  }
  return headers
}

/** Links that begin with a slash lead to this installation, at the address that the caller used. */
function withAbsoluteLinks(
  exchange: Exchange,
  edge: Edge,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (!beginsPath(headers)) return headers
  const names = ['location', brandHeader(edge.words, 'AsyncOperation').toLowerCase()]
  const isLink = ([name, value]: readonly [string, string]): boolean =>
    value.startsWith('/') && names.includes(name.toLowerCase())
  const given = Object.entries(headers)
  if (!given.some(isLink)) return headers
  const origin = edge.publicUrlOf(exchange.request)
  return Object.fromEntries(
    given.map((pair) => (isLink(pair) ? [pair[0], `${origin}${pair[1]}`] : pair)),
  )
}

/** Whether any value begins with a slash. Most answers have none. */
function beginsPath(headers: Readonly<Record<string, string>>): boolean {
  for (const name in headers) if (headers[name]?.startsWith('/')) return true
  return false
}

/** Finds one of the few headers an outcome may bring, by its lower-case name; most names differ in length already. */
function indexOfHeader(headers: FlatHeaders, lower: string): number {
  return headers.findIndex(
    (text, at) => at % 2 === 0 && text.length === lower.length && text.toLowerCase() === lower,
  )
}

function has(headers: FlatHeaders, lower: string): boolean {
  return indexOfHeader(headers, lower) >= 0
}

interface Head {
  readonly status: number
  readonly headers: FlatHeaders
}

function writeText(
  exchange: Exchange,
  edge: Edge,
  { status, headers }: Head,
  text: string | undefined,
): void {
  const { response } = exchange
  const bytes = text === undefined ? 0 : Buffer.byteLength(text)
  // A status without content has no Content-Length either (RFC 9110, 8.6).
  if (status !== 204 && status !== 304) {
    if (text !== undefined && !has(headers, 'content-type')) headers.push('Content-Type', jsonType)
    headers.push('Content-Length', String(bytes))
  }
  exchange.answered = true
  finishReading(exchange, edge, headers)
  response.writeHead(status, headers)
  if (status === 204 || status === 304 || text === undefined) response.end()
  // Plain ASCII: sent without being encoded.
  else writeWhole(response, text, bytes === text.length ? 'latin1' : 'utf8')
  edge.slowReaders.note(response, () => addressGroupOf(originOfExchange(exchange, edge).address))
  recordRequest(exchange, edge, status)
}

/** A longer text is converted to bytes first: joined to the head it would be in memory three times. */
const joinedMax = 64 * 1024

function writeWhole(response: ServerResponse, text: string, encoding: 'latin1' | 'utf8'): void {
  if (text.length > joinedMax) response.end(Buffer.from(text, encoding))
  else response.end(text, encoding)
}

async function writeStream(
  exchange: Exchange,
  edge: Edge,
  { status, headers }: Head,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { response } = exchange
  if (!has(headers, 'content-type')) headers.push('Content-Type', 'application/octet-stream')
  exchange.answered = true
  finishReading(exchange, edge, headers)
  response.writeHead(status, headers)
  if (exchange.method === 'HEAD') response.end()
  else await sendStream(exchange, edge, body)
  recordRequest(exchange, edge, status)
}

async function sendStream(
  exchange: Exchange,
  edge: Edge,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { response } = exchange
  // Cutting the connection shows the error: an answer that ends early would look complete.
  using watched = new DisposableStack()
  if (exchange.principal !== undefined) {
    const permission = permissionOf(exchange, edge)
    watched.defer(edge.permissions.watch(permission, () => response.destroy()))
  }
  watched.defer(edge.slowReaders.follow(response))
  await pipeline(body, response)
}

export const strictTransportHeader = [
  'Strict-Transport-Security',
  'max-age=31536000; includeSubDomains',
] as const

/** Counts and logs the request once its answer was sent. */
function recordRequest(exchange: Exchange, edge: Edge, status: number): void {
  edge.running.delete(exchange)
  const elapsed = edge.ticks() - exchange.startedAt
  edge.metrics.count(exchange.method, exchange.type, status, elapsed / 1000)
  if (edge.logRequests === 'off') return
  edge.log[edge.logRequests](
    {
      method: exchange.method,
      path: exchange.path,
      type: exchange.type,
      status,
      milliseconds: Math.round(elapsed * 10) / 10,
      principalId: exchange.principal?.id,
      ...originOfExchange(exchange, edge),
      correlationId: exchange.correlationId,
      requestId: exchange.requestId,
    },
    'request',
  )
}

function finishReading({ request }: Exchange, edge: Edge, headers: FlatHeaders): void {
  if (!dropBody(request, edge.limits)) return
  if (request.headers.expect !== undefined && !edge.isDraining())
    headers.push('Connection', 'close')
}

function withNextLink(
  exchange: Exchange,
  edge: Edge,
  body: object | string,
  nextToken: string | undefined,
): string {
  if (nextToken === undefined) return typeof body === 'string' ? body : JSON.stringify(body)
  const nextLink = nextLinkOf(
    edge.publicUrlOf(exchange.request),
    exchange.path,
    exchange.search,
    nextToken,
  )
  if (typeof body !== 'string') return JSON.stringify({ ...body, nextLink })
  if (!body.endsWith('}')) throw new Error('a page with a continuation must be an object')
  return `${body.slice(0, -1)}${body.length > 2 ? ',' : ''}"nextLink":${JSON.stringify(nextLink)}}`
}

/** The same URL with `$skipToken` replaced; the rest of the query stays as the client wrote it. */
export function nextLinkOf(origin: string, path: string, search: string, token: string): string {
  const parts = search.split('&').filter((part) => part !== '' && !isSkipToken(part))
  parts.push(`$skipToken=${encodeURIComponent(token)}`)
  return `${origin}${path}?${parts.join('&')}`
}

function isSkipToken(part: string): boolean {
  const name = part.split('=', 1)[0]?.replace(/^%24/, '$').toLowerCase()
  return name === '$skiptoken'
}

/** `20260131T120000Z`, the time part of the routing id; made again only when the second changes. */
export function createRoutingStamp(): (now: number) => string {
  let second = Number.NaN
  let text = ''
  return (now) => {
    const current = Math.floor(now / 1000)
    if (current !== second) {
      second = current
      text = new Date(current * 1000).toISOString().replace(/[-:]|\.\d+/g, '')
    }
    return text
  }
}
