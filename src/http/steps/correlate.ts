/** Gives the request its ids and refuses what is not valid HTTP for this server. Reads headers only. */

import { refuse } from '#kernel/error.ts'
import { isUuid } from '#kernel/uuid.ts'
import { edgeErrors } from '../edge-errors.ts'
import type { Edge, Exchange } from '../exchange.ts'

export function correlate(exchange: Exchange, edge: Edge): void {
  const headers = exchange.request.headers
  exchange.requestId = edge.ids.uuid()
  const given = headers['x-ms-correlation-request-id']
  exchange.correlationId = typeof given === 'string' && isUuid(given) ? given : edge.ids.uuid()
  if (headers.host === undefined && exchange.request.httpVersion === '1.1') {
    throw refuse.BadRequest({ reason: 'the Host header is missing' })
  }
  // A proxy before us may have used the other one.
  if (hostsIn(exchange.request.rawHeaders) > 1) {
    throw refuse.BadRequest({ reason: 'the Host header is there twice' })
  }
  const expectation = headers.expect
  if (expectation !== undefined && expectation.toLowerCase() !== '100-continue') {
    throw edgeErrors.refuse.ExpectationFailed({ expectation: expectation.slice(0, 60) })
  }
}

/** Names and values alternate. */
function hostsIn(headers: readonly string[]): number {
  let count = 0
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}
