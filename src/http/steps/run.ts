/** Passes the request as plain data to the endpoint, and keeps the outcome for `respond`. */

import { haveRoomForLarge } from '#plane/behalf-of.ts'
import { freeTurn, nextTurn } from '#plane/next-turn.ts'
import type { Outcome } from '#plane/plane.ts'
import { type Edge, type Exchange, enterAnswerRoom, enterTextRoom } from '../exchange.ts'

export function run(exchange: Exchange, edge: Edge): void | Promise<void> {
  const { kind, waitsForRoom } = exchange.endpoint
  if (kind === 'collection' || waitsForRoom === true) return runInRoom(exchange, edge)
  const { route } = exchange
  const large = route === undefined ? 0 : edge.plane.largeAt(route.id)
  if (large > 0) return runLarge(exchange, edge, large)
  const outcome = exchange.endpoint.run(exchange, edge)
  if (outcome instanceof Promise) return keep(exchange, outcome)
  exchange.outcome = asText(outcome)
}

/** A page may hold megabytes and is built in one turn. */
async function runInRoom(exchange: Exchange, edge: Edge): Promise<void> {
  await enterAnswerRoom(exchange, edge)
  haveRoomForLarge()
  await freeTurn(exchange.principal?.id)
  exchange.outcome = asText(await exchange.endpoint.run(exchange, edge))
}

async function runLarge(exchange: Exchange, edge: Edge, characters: number): Promise<void> {
  await enterTextRoom(exchange, edge, characters)
  await nextTurn(exchange.principal?.id)
  exchange.outcome = asText(await exchange.endpoint.run(exchange, edge))
}

async function keep(
  exchange: Exchange,
  outcome: Promise<NonNullable<Exchange['outcome']>>,
): Promise<void> {
  exchange.outcome = asText(await outcome)
}

/**
 * Before others have their turn: objects take twenty times as much memory as their text, and answers of many callers may wait
 * to be sent.
 */
function asText(outcome: Outcome): Outcome {
  const { body } = outcome
  if (body === undefined || typeof body === 'string' || Symbol.asyncIterator in body) return outcome
  return { ...outcome, body: JSON.stringify(body) }
}
