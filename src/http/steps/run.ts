/** Hands what is now plain data to the endpoint, and keeps what comes back for `respond`. */

import type { Edge, Exchange } from '../exchange.ts'

export function run(exchange: Exchange, edge: Edge): void | Promise<void> {
  const outcome = exchange.endpoint.run(exchange, edge)
  if (outcome instanceof Promise) return keep(exchange, outcome)
  exchange.outcome = outcome
}

async function keep(
  exchange: Exchange,
  outcome: Promise<NonNullable<Exchange['outcome']>>,
): Promise<void> {
  exchange.outcome = await outcome
}
