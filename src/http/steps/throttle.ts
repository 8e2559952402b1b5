/** Counts the request against the caller's allowance (facts 9.6); refuses with 429 when it is used up. */

import { subscriptionOf } from '#kernel/resource-id.ts'
import { type Edge, type Exchange, principalOf } from '../exchange.ts'

export function throttle(exchange: Exchange, edge: Edge): void {
  const route = exchange.route
  exchange.allowance = edge.throttle.take(
    principalOf(exchange).id,
    route === undefined ? undefined : subscriptionOf(route.id)?.toLowerCase(),
    exchange.counts,
    edge.clock.now(),
  )
  if (exchange.allowance?.refusal !== undefined) throw exchange.allowance.refusal
}
