/** Identifies the caller from the `Authorization` header alone. */

import type { Edge, Exchange } from '../exchange.ts'

export function authenticate(exchange: Exchange, edge: Edge): void | Promise<void> {
  exchange.rightsAsOf = edge.plane.rightsAsOf?.()
  const principal = edge.authenticate(exchange.request.headers.authorization)
  if (principal instanceof Promise) return remember(exchange, principal)
  exchange.principal = principal
}

async function remember(
  exchange: Exchange,
  principal: ReturnType<Edge['authenticate']>,
): Promise<void> {
  exchange.principal = await principal
}
