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
  if (exchange.request.rawHeaders.filter(isHost).length > 1) {
    throw refuse.BadRequest({ reason: 'the Host header is there twice' })
  }
  const expectation = headers.expect
  if (expectation !== undefined && expectation.toLowerCase() !== '100-continue') {
    throw edgeErrors.refuse.ExpectationFailed({ expectation: expectation.slice(0, 60) })
  }
}

/** Names and values alternate. */
function isHost(name: string, at: number): boolean {
  return at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host'
}
