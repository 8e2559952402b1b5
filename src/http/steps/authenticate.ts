/** Identifies the caller from the `Authorization` header alone. */

import type { Edge, EndpointKind, Exchange } from '../exchange.ts'

export function authenticate(exchange: Exchange, edge: Edge): void | Promise<void> {
  exchange.rightsAsOf = edge.plane.rightsAsOf?.()
  exchange.rightsRefresh = undefined
  const { authorization } = exchange.request.headers
  const principal = edge.authenticate(authorization)
  if (principal instanceof Promise) {
    if (mayRefresh(exchange, edge, authorization)) refreshRights(exchange, edge)
    return remember(exchange, principal)
  }
  exchange.principal = principal
}

const kindsByRights: ReadonlySet<EndpointKind> = new Set([
  'resource',
  'collection',
  'action',
  'operation',
  'business',
])

/** Whoever has shown no good token yet makes the store do nothing. Only these decide by the result. */
function mayRefresh(
  { endpoint }: Exchange,
  edge: Edge,
  authorization: string | undefined,
): boolean {
  if (!kindsByRights.has(endpoint.kind) || authorization === undefined) return false
  return edge.callerOf(authorization) !== undefined
}

const ignore = (): void => {}

/** What the decision waits for and what the caller waits for are asked together: one way to a database server. */
function refreshRights(exchange: Exchange, edge: Edge): void {
  const refresh = edge.plane.refreshRights?.()
  // Where the caller is refused first, nobody waits for it, and its failure is nobody's.
  refresh?.then(ignore, ignore)
  exchange.rightsRefresh = refresh
}

async function remember(
  exchange: Exchange,
  principal: ReturnType<Edge['authenticate']>,
): Promise<void> {
  exchange.principal = await principal
}
