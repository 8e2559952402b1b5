/** Whether the caller may do this here. Checked before any byte of the body is read. */

import type { Edge, Exchange } from '../exchange.ts'

export function authorize(exchange: Exchange, edge: Edge): void | Promise<void> {
  return exchange.endpoint.authorize(exchange, edge)
}
