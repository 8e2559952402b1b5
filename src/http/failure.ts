/**
 * Turns every error into one of the contract's three error bodies. What the caller may read and what the log gets is
 * decided here and nowhere else; a fault never shows its text.
 */

import { STATUS_CODES } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import { targetOf } from '#activity/record.ts'
import { bodyOf as businessBody } from '#business/failure.ts'
import { ApiError, type ErrorDetail, type ErrorFamily, refuse } from '#kernel/error.ts'
import { qualify } from '#kernel/vendor.ts'
import { endInOrder } from './connections.ts'
import { edgeErrors } from './edge-errors.ts'
import { type Edge, type Exchange, originOfExchange, requestFrom } from './exchange.ts'
import { respondFailure } from './respond.ts'

interface Failure {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
  /** An error of ours: the log gets all of it. */
  readonly isFault: boolean
}

const storeRetrySeconds = '5'
const lostRaceRetrySeconds = '1'

/** Pure: the answer for a thrown error. Anything that is neither a refusal nor a known failure is a fault. */
export function shapeFailure(
  error: unknown,
  family: ErrorFamily | 'business',
  correlationId: string,
): Failure {
  const refusal = asRefusal(error)
  const shown = refusal ?? refuse.InternalServerError({ correlationId })
  return {
    status: shown.status,
    headers: shown.extra.headers ?? {},
    body: family === 'business' ? businessBody(shown, correlationId) : shapeBody(shown, family),
    isFault: refusal === undefined,
  }
}

function asRefusal(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error
  if (!(error instanceof Error)) return undefined
  // By name, since the edge may not import the stores.
  if (error.name === 'StoreUnavailable') {
    return refuse.ServiceUnavailable(
      { reason: 'the store does not answer' },
      { headers: { 'Retry-After': storeRetrySeconds } },
    )
  }
  // The store has tried again as often as it may. Nothing was written, so the client may repeat the request.
  if (error.name === 'StoreConflict') {
    return refuse.ServiceUnavailable(
      { reason: 'other requests write the same rows at this moment' },
      { headers: { 'Retry-After': lostRaceRetrySeconds } },
    )
  }
  // Whatever was to be written beside the store: a saved state, a key.
  if ('code' in error && error.code === 'ENOSPC') {
    return refuse.ServiceUnavailable({ reason: 'its disk is full' })
  }
  return undefined
}

/** Contract, "Errors": nested, flat with textual details, nested without `additionalInfo`. */
function shapeBody(error: ApiError, family: ErrorFamily): object {
  const { code, message, extra } = error
  const { target, details, additionalInfo } = extra
  switch (family) {
    case 'resource-manager':
      return {
        error: {
          code,
          message,
          ...(target === undefined ? {} : { target }),
          ...(details === undefined ? {} : { details: details.map(plain) }),
          ...(additionalInfo === undefined ? {} : { additionalInfo }),
        },
      }
    case 'data-share':
      return {
        error: {
          code,
          message,
          ...(target === undefined ? {} : { target }),
          ...(details === undefined ? {} : { details: details.map(plain) }),
        },
      }
    case 'health':
      return { code, message, ...(details === undefined ? {} : { details: asText(details) }) }
    default:
      return family satisfies never
  }
}

function plain(detail: ErrorDetail): ErrorDetail {
  const { code, message, target } = detail
  return target === undefined ? { code, message } : { code, message, target }
}

function asText(details: readonly ErrorDetail[]): string {
  return details
    .map((detail) =>
      detail.target === undefined ? detail.message : `${detail.target}: ${detail.message}`,
    )
    .join('; ')
}

/** Runs the steps of one request. Errors are answered and, where they are ours, logged. */
export async function answerErrors(
  exchange: Exchange,
  edge: Edge,
  work: (exchange: Exchange, edge: Edge) => Promise<void>,
): Promise<void> {
  try {
    await work(exchange, edge)
  } catch (error) {
    // The deadline has already answered and recorded it.
    if (exchange.deadline?.signal.aborted === true) return
    try {
      fail(exchange, edge, error)
    } catch (second) {
      // An unhandled error would end the process.
      edge.log.error({ err: second, cause: error }, 'a failure could not be answered')
      exchange.response.destroy()
    }
  } finally {
    edge.running.delete(exchange)
    exchange.body = undefined
    // Nobody reads the answer of a client that has left, or that was answered meanwhile.
    if (exchange.outcome?.body instanceof Readable) exchange.outcome.body.destroy()
    exchange.leave?.()
  }
}

export function fail(exchange: Exchange, edge: Edge, thrown: unknown): void {
  const isAnonymous = thrown instanceof ApiError && thrown.status === 401
  const tooMany = isAnonymous ? edge.refuseAnonymous(exchange.request, edge.clock.now()) : undefined
  const error = tooMany ?? thrown
  // If `correlate` has not run, or threw, there may be no ids yet.
  if (exchange.requestId === '') exchange.requestId = edge.ids.uuid()
  if (exchange.correlationId === '') exchange.correlationId = edge.ids.uuid()
  const family =
    exchange.endpoint.kind === 'business'
      ? 'business'
      : (exchange.family ?? edge.plane.errorFamilyOf(exchange.path))
  const failure = shapeFailure(error, family, exchange.correlationId)
  const headers = { ...failure.headers }
  if (failure.status === 401) {
    const address = `${edge.publicUrlOf(exchange.request)}/common/oauth2/authorize`
    const [, reason] = /^Bearer (.*)$/.exec(headers['WWW-Authenticate'] ?? '') ?? []
    const parts = [
      `Bearer authorization_uri="${address}"`,
      ...(reason === undefined ? [] : [reason]),
    ]
    headers['WWW-Authenticate'] = parts.join(', ')
  }
  if (failure.status >= 500 && failure.status !== notImplemented) {
    // While the memory is nearly full, a line for each refusal would be many. A fault of ours is always reported.
    const isOneOfMany = !failure.isFault && edge.heap?.isFull() === true
    if (!isOneOfMany) report(exchange, edge, error, failure)
  }
  noteRefused(exchange, edge, error, failure.status)
  respondFailure(exchange, edge, { ...failure, headers })
}

const tooManyRequests = 429
/** A refusal like those below 500: the server works as it should. */
const notImplemented = 501

/** Records a refused change of a known caller in the audit trail. Throttled requests are left out. */
function noteRefused(exchange: Exchange, edge: Edge, error: unknown, status: number): void {
  const { principal, route } = exchange
  const own = exchange.endpoint.operation
  const operation = route?.leavesRecord === true ? route.operation : own && qualify(edge.words, own)
  if (principal === undefined || operation === undefined || status === tooManyRequests) return
  edge.activity.note(
    {
      initiator: {
        principal,
        correlationId: exchange.correlationId,
        from: requestFrom(exchange, edge),
      },
      action: operation,
      target: route?.id ?? targetOf(exchange.path),
      status: 'Failed',
      httpStatus: status,
      code: asRefusal(error)?.code ?? 'InternalServerError',
    },
    { principal: principal.id },
  )
}

function isPrematureClose(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
}

function report(exchange: Exchange, edge: Edge, error: unknown, failure: Failure): void {
  // A client that closes during a stream is no error of ours.
  if (isPrematureClose(error)) return
  const fields = {
    err: error,
    status: failure.status,
    method: exchange.method,
    path: exchange.path,
    type: exchange.type,
    principalId: exchange.principal?.id,
    ...originOfExchange(exchange, edge),
    correlationId: exchange.correlationId,
    requestId: exchange.requestId,
  }
  if (failure.isFault) edge.log.error(fields, 'fault while serving a request')
  else edge.log.warn(fields, 'request could not be served')
}

/**
 * For bytes that never became a request because the HTTP parser refused them. Answered in the resource manager's
 * family.
 */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  // Node's own handler looks at the same field: no second answer into one that has begun.
  const begun = (socket as Duplex & { _httpMessage?: { headersSent?: boolean } })._httpMessage
    ?.headersSent
  // What still arrives after an answer is no request either, and is dropped.
  if (error.code !== 'ECONNRESET' && socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable || begun === true) {
    socket.destroy()
    return
  }
  const refusal = refusalOfSocketError(error.code)
  const body = JSON.stringify(shapeBody(refusal, 'resource-manager'))
  const lines = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-cache',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  const answer = `${lines.join('\r\n')}\r\n\r\n${body}`
  // Who was too slow gets no more time.
  if (error.code === requestTimeout) socket.end(answer, () => socket.destroy())
  else {
    socket.write(answer)
    endInOrder(socket, brokenLingerMilliseconds)
  }
}

const requestTimeout = 'ERR_HTTP_REQUEST_TIMEOUT'

/** How long a peer may still send after the answer. Most send the rest of a body that was on its way. */
const brokenLingerMilliseconds = 5_000

function refusalOfSocketError(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return refuse.RequestHeaderFieldsTooLarge()
    case requestTimeout:
      return edgeErrors.refuse.RequestTimeout()
    default:
      return refuse.BadRequest({ reason: 'it is not valid HTTP/1.1' })
  }
}
