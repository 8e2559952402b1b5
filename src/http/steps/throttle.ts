/**
 * Counts the request against the caller's allowance (facts 9.6) and as running; refuses with 429 when a limit is
 * reached.
 */

import { subscriptionOf } from '#kernel/resource-id.ts'
import { type Edge, type Exchange, principalOf } from '../exchange.ts'

export function throttle(exchange: Exchange, edge: Edge): void | Promise<void> {
  const entered = edge.throttle.enter(principalOf(exchange).id)
  if ('refusal' in entered) throw entered.refusal
  exchange.leave = entered.leave
  const route = exchange.route
  const named = route === undefined ? undefined : subscriptionOf(route.id)?.toLowerCase()
  return named === undefined || edge.throttle.knows(named)
    ? count(exchange, edge, named)
    : countUnknown(exchange, edge, named)
}

/** The subscription is looked up once, then it is known. */
async function countUnknown(exchange: Exchange, edge: Edge, named: string): Promise<void> {
  const exists = await edge.plane.hasSubscription(named)
  if (exists) edge.throttle.learn(named)
  await count(exchange, edge, exists ? named : undefined)
}

function count(
  exchange: Exchange,
  edge: Edge,
  subscription: string | undefined,
): void | Promise<void> {
  const { id } = principalOf(exchange)
  exchange.allowance = edge.throttle.take(id, subscription, exchange.counts, edge.clock.now())
  if (exchange.allowance?.refusal !== undefined) throw exchange.allowance.refusal
  return edge.meetFault?.(exchange)
}
