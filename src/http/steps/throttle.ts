/**
 * Counts the request against the caller's allowance (facts 9.6) and as running; refuses with 429 when a limit is
 * reached.
 */

import { subscriptionOf } from '#kernel/resource-id.ts'
import { type Edge, type Exchange, principalOf } from '../exchange.ts'

export function throttle(exchange: Exchange, edge: Edge): void | Promise<void> {
  const { id } = principalOf(exchange)
  const entered = edge.throttle.enter(id)
  if ('refusal' in entered) throw entered.refusal
  exchange.leave = entered.leave
  const route = exchange.route
  exchange.allowance = edge.throttle.take(
    id,
    route === undefined ? undefined : subscriptionOf(route.id)?.toLowerCase(),
    exchange.counts,
    edge.clock.now(),
  )
  if (exchange.allowance?.refusal !== undefined) throw exchange.allowance.refusal
  return edge.meetFault?.(exchange)
}
