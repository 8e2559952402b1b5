/**
 * The turn of a request before it is authenticated: in whose name it waits for one, and how many may wait. It refuses by
 * ending the connection, since whoever sends so much reads no answer.
 */

import type { IncomingMessage } from 'node:http'
import { freeTurn, freeUnknownTurn } from '#plane/next-turn.ts'
import { addressGroupOf } from './client-address.ts'
import type { EdgeDependencies } from './exchange.ts'

/** Addresses share so many lines, whoever has many of them, so most lines are left to callers who are known. */
const addressLines = 64
/** Requests of one address that may wait while nobody knows whose they are: as many as it may have connections. */
const waitingPerAddressMax = 1_000

/** Undefined where the turn has time; rejects nothing. */
type ArrivalTurn = (request: IncomingMessage) => Promise<void> | undefined

/**
 * Behind a proxy all callers have one address, so whoever was authenticated before waits by principal. A token that nobody
 * has checked names nobody: anybody can make up any number of them.
 */
export function createArrivalTurns({
  callerOf,
  addressOf,
}: Pick<EdgeDependencies, 'callerOf' | 'addressOf'>): ArrivalTurn {
  const waiting = new Map<string, number>()

  async function counted(address: string, turn: Promise<void>): Promise<void> {
    waiting.set(address, (waiting.get(address) ?? 0) + 1)
    await turn
    const left = (waiting.get(address) ?? 1) - 1
    if (left > 0) waiting.set(address, left)
    else waiting.delete(address)
  }

  return (request) => {
    const { authorization } = request.headers
    const caller = authorization === undefined ? undefined : callerOf(authorization)
    if (caller !== undefined) return freeTurn(caller)
    const address = addressGroupOf(addressOf(request))
    if ((waiting.get(address) ?? 0) >= waitingPerAddressMax) {
      request.socket.destroy()
      return undefined
    }
    const turn = freeUnknownTurn(`address ${numberOf(address) % addressLines}`)
    return turn && counted(address, turn)
  }
}

/** The same for the same text. */
function numberOf(text: string): number {
  let number = 0
  for (let at = 0; at < text.length; at++) number = (number * 31 + text.charCodeAt(at)) >>> 0
  return number
}
