/** Passes the request as plain data to the endpoint, and keeps the outcome for `respond`. */

import { freeTurn } from '#plane/next-turn.ts'
import { type Edge, type Exchange, enterAnswerRoom } from '../exchange.ts'
import { gone } from './read-body.ts'

export function run(exchange: Exchange, edge: Edge): void | Promise<void> {
  const { kind, waitsForRoom } = exchange.endpoint
  if (kind === 'collection' || waitsForRoom === true) return runInRoom(exchange, edge)
  const outcome = exchange.endpoint.run(exchange, edge)
  if (outcome instanceof Promise) return keep(exchange, outcome)
  exchange.outcome = outcome
}

/** A page may hold megabytes and is built in one turn. */
async function runInRoom(exchange: Exchange, edge: Edge): Promise<void> {
  if (!(await enterAnswerRoom(exchange, edge))) throw gone()
  await freeTurn()
  exchange.outcome = await exchange.endpoint.run(exchange, edge)
}

async function keep(
  exchange: Exchange,
  outcome: Promise<NonNullable<Exchange['outcome']>>,
): Promise<void> {
  exchange.outcome = await outcome
}
