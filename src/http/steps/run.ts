/** Passes the request as plain data to the endpoint, and keeps the outcome for `respond`. */

import { nextTurn } from '#plane/next-turn.ts'
import { type Edge, type Exchange, enterAnswerRoom } from '../exchange.ts'
import { gone } from './read-body.ts'

export function run(exchange: Exchange, edge: Edge): void | Promise<void> {
  // A page may hold megabytes and is built in one turn.
  const { kind, waitsForRoom } = exchange.endpoint
  if (kind === 'collection' || waitsForRoom === true) return runInTurn(exchange, edge)
  if (exchange.isLarge) return runInTurns(exchange, edge)
  const outcome = exchange.endpoint.run(exchange, edge)
  if (outcome instanceof Promise) {
    return kind === 'action' ? keepInTurn(exchange, outcome) : keep(exchange, outcome)
  }
  exchange.outcome = outcome
}

async function runInTurn(exchange: Exchange, edge: Edge): Promise<void> {
  if (!(await enterAnswerRoom(exchange, edge))) throw gone()
  await nextTurn()
  exchange.outcome = await exchange.endpoint.run(exchange, edge)
}

/** A large body was just parsed, and its answer may be as large. */
async function runInTurns(exchange: Exchange, edge: Edge): Promise<void> {
  await nextTurn()
  await keepInTurn(exchange, Promise.resolve(exchange.endpoint.run(exchange, edge)))
}

async function keep(
  exchange: Exchange,
  outcome: Promise<NonNullable<Exchange['outcome']>>,
): Promise<void> {
  exchange.outcome = await outcome
}

/** The answers of actions may hold megabytes, too. Of those that are there at once, each is written in its own turn. */
async function keepInTurn(
  exchange: Exchange,
  outcome: Promise<NonNullable<Exchange['outcome']>>,
): Promise<void> {
  exchange.outcome = await outcome
  await nextTurn()
}
