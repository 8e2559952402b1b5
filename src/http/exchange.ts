/**
 * One request: what the steps have found out about it so far, and what every step may use. Plain fields, filled in
 * while the matrix is walked; nothing here decides anything.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ActivityQueue } from '#activity/queue.ts'
import type { RequestFrom } from '#activity/record.ts'
import { type ApiError, type ErrorFamily, refuse } from '#kernel/error.ts'
import { weightOf } from '#kernel/json-weight.ts'
import type { Limits } from '#kernel/limits.ts'
import type { Clock, HeapWatch, Ids, Log } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import type { RequestOrigin } from '#kernel/request-origin.ts'
import type { Room } from '#kernel/room.ts'
import { isUuid } from '#kernel/uuid.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { ConditionalGrant } from '#plane/access.ts'
import type { Outcome, Plane, Route } from '#plane/plane.ts'
import { type AddressOf, addressGroupOf, originOf } from './client-address.ts'
import type { JsonSyntax } from './json.ts'
import type { LargeBodies } from './large-bodies.ts'
import type { Metrics } from './metrics.ts'
import type { PermissionWatch } from './permission-watch.ts'
import type { PublicUrlOf } from './public-url.ts'
import type { SlowReaders } from './slow-readers.ts'
import { authenticate } from './steps/authenticate.ts'
import type { Allowance, Throttle } from './throttle.ts'

/** The columns of the matrix. Paths of the plane are `resource` until they have been located. */
export type EndpointKind =
  | 'resource'
  | 'collection'
  | 'action'
  | 'operation'
  | 'directory'
  | 'business'
  | 'open'

/** The target of a request. Made once, at start; steps call it with the exchange. */
export interface Endpoint {
  readonly kind: EndpointKind
  /** Label of logs and metrics; the plane's paths have their type there once located. */
  readonly type: string
  readonly body: 'required' | 'optional' | 'none'
  readonly counts: 'reads' | 'writes' | 'deletes'
  /** Its answers are large: few are made for one caller at once. So are those of all collections. */
  readonly waitsForRoom?: true
  /** The action name of a refused request, without the vendor word. Paths of the plane take it from their route. */
  readonly operation?: string
  /** Throws `AuthorizationFailed`. Called only where the matrix says so. */
  authorize(exchange: Exchange, edge: Edge): void | Promise<void>
  /** Runs the request. Throws refusals; any other error is a fault. */
  run(exchange: Exchange, edge: Edge): Outcome | Promise<Outcome>
}

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  /** The path as sent, still encoded, without the query. */
  readonly path: string
  /** The query as sent, without the question mark. */
  readonly search: string
  /** Path parameters of the edge's own routes, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly startedAt: number

  /** Filled by `queryOf`. */
  query: URLSearchParams | undefined
  /** Filled by `originOfExchange`. */
  origin: RequestOrigin | undefined
  endpoint: Endpoint
  type: string
  counts: 'reads' | 'writes' | 'deletes'
  bodyRule: 'required' | 'optional' | 'none'
  bodySyntax: JsonSyntax
  /** The family of error bodies; unknown until the path was located. */
  family: ErrorFamily | undefined
  requestId: string
  correlationId: string
  principal: Principal | undefined
  /** As it was before the caller was last authenticated. */
  rightsAsOf: ReturnType<NonNullable<Plane['rightsAsOf']>>
  /** Begun when the caller was authenticated, for the next decision alone: a later one asks anew. */
  rightsRefresh: Promise<unknown> | undefined
  route: Route | undefined
  allowance: Allowance | undefined
  /** Marks the request as ended; set when it was counted as running. */
  leave: (() => void) | undefined
  /** The conditional grant that `authorize` returned; `run` settles it. */
  pending: ConditionalGrant | undefined
  body: unknown
  outcome: Outcome | undefined
  /** An answer has begun; anything later is dropped (deadline). */
  answered: boolean
  /** Aborts the work at the deadline; created by `deadlineOf`. */
  deadline: AbortController | undefined
}

/** What the edge is given, and every step may use. */
export interface EdgeDependencies {
  readonly plane: Plane
  /** The caller by the `Authorization` header. Throws the 401 refusals. Synchronous when cached. */
  authenticate(header: string | undefined): Principal | Promise<Principal>
  /** The principal of a token that was accepted before; undefined when that is not known. It may have lost its rights. */
  callerOf(header: string): string | undefined
  /** When an accepted token expires; undefined when that is not known. */
  expiryOf(header: string | undefined): number | undefined
  /** Ends streams whose caller has lost the right to them. */
  readonly permissions: PermissionWatch
  /** Checks that the caller may do this in the directory. Throws `AuthorizationFailed`. */
  authorizeAction(action: string, principal: Principal): void | Promise<void>
  /** The caller's address, behind the proxies that are trusted. */
  readonly addressOf: AddressOf
  /** Takes requests that were refused although they came from somebody known. */
  readonly activity: Pick<ActivityQueue, 'note'>
  readonly clock: Clock
  /** Set where the clock may be moved: answers carry its moment as their `Date`, not the machine's. */
  readonly isClockMoved?: true
  readonly ids: Ids
  /** Milliseconds of a monotonic clock, for durations and deadlines. */
  ticks(): number
  readonly log: Log
  /** A log line per request. `off` saves making it. */
  readonly logRequests: 'off' | 'debug' | 'info'
  readonly limits: Limits
  /** Requests are given up while the heap is nearly full. */
  readonly heap?: HeapWatch
  /** For bodies that are too large for memory; the system's own by default. */
  readonly temporaryFolder?: string
  readonly words: VendorWords
  /** First part of `x-ms-routing-request-id`. */
  readonly region: string
  /** Gives the origin of absolute links in the answer to a request. */
  readonly publicUrlOf: PublicUrlOf
  /** Pages of these origins may read answers; `*` means any. */
  readonly corsOrigins: readonly string[]
  /** Clients are told to use https only. */
  readonly strictTransport: boolean
  /** Injects faults into a request. Left out where nobody may do that. */
  readonly meetFault?: (exchange: Exchange) => void | Promise<void>
}

/** What all requests share. Made by `createHttpServer`, never changed afterwards. */
export interface Edge extends EdgeDependencies {
  readonly throttle: Throttle
  /** Counts a request without a valid token. Returns the refusal where there were too many. */
  refuseAnonymous(request: IncomingMessage, now: number): ApiError | undefined
  /** The time part of `x-ms-routing-request-id`. */
  routingStamp(now: number): string
  readonly metrics: Metrics
  /** Running requests: a drain waits for them, and the deadline checks them. */
  readonly running: Set<Exchange>
  readonly slowReaders: SlowReaders
  /** Buffers that large bodies reuse. */
  readonly spareBodies: Buffer[]
  /** Bytes of large bodies. */
  readonly bodyRoom: Room
  /** What the objects of bodies take in memory besides their text. */
  readonly objectRoom: Room
  /** Places for bodies that are larger than others may be. */
  readonly largeBodyRoom: Room
  readonly largeBodies: LargeBodies
  /** Room for lists and batches while they are built. */
  readonly answerRoom: Room
  /** Room for the same answers until their clients have read them. */
  readonly unreadRoom: Room
  /** Characters of large resources, from before they are read until clients have read the answers. */
  readonly textRoom: Room
  /** The server is shutting down: answers end their connections. */
  isDraining(): boolean
}

const noParams: Readonly<Record<string, string>> = Object.freeze({})

interface ExchangeStart {
  readonly endpoint: Endpoint
  readonly startedAt: number
  readonly params?: Readonly<Record<string, string>> | undefined
}

export function createExchange(
  request: IncomingMessage,
  response: ServerResponse,
  { endpoint, startedAt, params = noParams }: ExchangeStart,
): Exchange {
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  const search = mark < 0 ? '' : url.slice(mark + 1)
  return {
    request,
    response,
    method: request.method ?? 'GET',
    path: mark < 0 ? url : url.slice(0, mark),
    search,
    params,
    startedAt,
    query: undefined,
    origin: undefined,
    endpoint,
    type: endpoint.type,
    counts: endpoint.counts,
    bodyRule: endpoint.body,
    bodySyntax: 'strict',
    family: undefined,
    requestId: '',
    correlationId: '',
    principal: undefined,
    rightsAsOf: undefined,
    rightsRefresh: undefined,
    route: undefined,
    allowance: undefined,
    leave: undefined,
    pending: undefined,
    body: undefined,
    outcome: undefined,
    answered: false,
    deadline: undefined,
  }
}

/** The query as names and values; the business application reads its own way. */
export function queryOf(exchange: Exchange): URLSearchParams {
  exchange.query ??= new URLSearchParams(exchange.search)
  return exchange.query
}

/** The address and the program of the caller. */
export function originOfExchange(exchange: Exchange, edge: Edge): RequestOrigin {
  exchange.origin ??= originOf(exchange.request, edge.addressOf)
  return exchange.origin
}

/** The origin of a request as the audit trail records it, besides its caller. */
export function requestFrom(exchange: Exchange, edge: Edge): RequestFrom {
  const { headers } = exchange.request
  const id = headers['x-ms-client-request-id']
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  return {
    ...originOfExchange(exchange, edge),
    method: exchange.method,
    ...(typeof id === 'string' && isUuid(id) ? { clientRequestId: id } : {}),
    ...(isForwarded ? { isForwarded } : {}),
  }
}

/** The caller. Only for steps after `authenticate`. */
export function principalOf(exchange: Exchange): Principal {
  if (exchange.principal === undefined) throw new Error('asked for the caller before authenticate')
  return exchange.principal
}

/** The route. Only for steps after `locate`, in the plane's columns. */
export function routeOf(exchange: Exchange): Route {
  if (exchange.route === undefined) throw new Error('asked for the route before locate')
  return exchange.route
}

/** A smaller body needs no room: the number of concurrent requests is bounded already. */
export const smallBodyBytes = 64 * 1024
/** A smaller unread answer does not keep its place. */
const smallAnswerBytes = 64 * 1024

/** Aborted when the deadline has answered. */
export function deadlineOf(exchange: Exchange): AbortSignal {
  exchange.deadline ??= new AbortController()
  return exchange.deadline.signal
}

/** Gives a signal that is aborted at the deadline, and when the client leaves. It is made only where somebody has to wait. */
export function awaitedBy(exchange: Exchange): () => AbortSignal {
  const { response } = exchange
  let signal: AbortSignal | undefined
  const begin = (): AbortSignal => {
    const client = new AbortController()
    const leave = (): void => client.abort(connectionEnded())
    if (response.closed) leave()
    else response.once('close', leave)
    return AbortSignal.any([deadlineOf(exchange), client.signal])
  }
  return () => {
    // A batch may wait many times.
    signal ??= begin()
    return signal
  }
}

/** The connection is gone, so nobody gets this refusal; it only ends the exchange. */
export function connectionEnded(): Error {
  return refuse.BadRequest({ reason: 'the connection ended before the answer' })
}

/**
 * Waits until there is room for the body, as far as that is no larger than others may be; the end of the exchange gives it
 * back. `isLarge`: for the rest of it. Throws, as all that wait here, when nobody waits for the answer any more.
 */
export async function enterBodyRoom(
  exchange: Exchange,
  edge: Edge,
  isLarge = false,
): Promise<void> {
  const { request } = exchange
  const { bodyBytesMax } = edge.limits
  const announced = Math.min(
    Number(request.headers['content-length'] ?? bodyBytesMax),
    bodyBytesMax,
  )
  if (isLarge) await enter(exchange, edge.largeBodyRoom, { amount: 1 })
  else if (announced > smallBodyBytes) await enter(exchange, edge.bodyRoom, { amount: announced })
  if (request.destroyed) throw connectionEnded()
}

/** Fewer objects are bounded by the number of concurrent requests. */
const fewObjects = 64 * 1024

/**
 * Waits until there is room for the objects of a body that is there, before they are made. Throws as for answers.
 */
export async function enterObjectRoom(
  exchange: Exchange,
  edge: Edge,
  body: Uint8Array,
): Promise<void> {
  const amount = weightOf(body) - body.length
  if (amount < fewObjects) return
  const hasWaited = await enter(exchange, edge.objectRoom, { amount })
  if (hasWaited) await authorizeAgain(exchange, edge)
}

/**
 * Waits until the caller may have one more answer that can be large. It takes one place until the answer is built and
 * another until it is read, so that a slow reader gets no more of them. Throws when the caller has lost the right while
 * waiting. Callers without a token are told apart by their addresses.
 */
export async function enterAnswerRoom(exchange: Exchange, edge: Edge): Promise<void> {
  const owner = exchange.principal?.id ?? addressGroupOf(originOfExchange(exchange, edge).address)
  const leave = whenRead(exchange)
  const waitedForReader = await enter(exchange, edge.unreadRoom, { amount: 1, owner, leave })
  const waitedForTurn = await enter(exchange, edge.answerRoom, { amount: 1, owner })
  const { principal } = exchange
  if ((waitedForReader || waitedForTurn) && principal !== undefined)
    await authorizeAgain(exchange, edge)
}

/**
 * Waits until the caller may have so many more characters of large resources in memory: for a text as it is read, parsed
 * and answered. Throws as above.
 */
export async function enterTextRoom(exchange: Exchange, edge: Edge, amount: number): Promise<void> {
  const hasWaited = await enter(exchange, edge.textRoom, { amount, leave: whenRead(exchange) })
  if (hasWaited) await authorizeAgain(exchange, edge)
}

/** Frees a place when the answer is read, or small. */
function whenRead({ response }: Exchange): (free: () => void) => void {
  return (free) => {
    if (response.writableLength <= smallAnswerBytes || response.closed) free()
    else response.once('close', free)
  }
}

/**
 * For a request that waited: its caller may have been disabled, or may have lost the right. Throws 401 or 403; the
 * result is the grant as it is now.
 */
export async function authorizeAgain(exchange: Exchange, edge: Edge): Promise<Exchange['pending']> {
  await authenticate(exchange, edge)
  await exchange.endpoint.authorize(exchange, edge)
  return exchange.pending
}

interface Entry {
  readonly amount: number
  /** The caller if it is left out. */
  readonly owner?: string
  leave?(free: () => void): void
}

/**
 * Registers with `leave` how the room is given back at the end of the exchange. True when it had to wait. Throws when
 * nobody waits for the answer any more: neither it nor what it keeps waits on.
 */
async function enter(
  exchange: Exchange,
  room: Room,
  { amount, owner, leave = (free) => free() }: Entry,
): Promise<boolean> {
  const entered = room.enter(owner ?? principalOf(exchange).id, amount, awaitedBy(exchange))
  const hasWaited = entered instanceof Promise
  const free = hasWaited ? await entered : entered
  const before = exchange.leave
  exchange.leave = () => {
    leave(free)
    before?.()
  }
  if (exchange.answered) free()
  if (exchange.answered || exchange.request.socket.destroyed) throw connectionEnded()
  return hasWaited
}

/** Does the request announce a body, by the framing of HTTP/1.1? */
export function announcesBody(request: IncomingMessage): boolean {
  const headers = request.headers
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}
