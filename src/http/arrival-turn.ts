/**
 * The turn of a request before it is authenticated: in whose name it waits for one, and how many may wait. It refuses by
 * ending a connection, since whoever sends so much reads no answer.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { freeTurn, freeUnknownTurn } from '#plane/next-turn.ts'
import { addressGroupOf } from './client-address.ts'
import { createConnectionPace } from './connection-pace.ts'
import type { EdgeDependencies } from './exchange.ts'

/** Addresses share so many lines, whoever has many of them, so most lines are left to callers who are known. */
const addressLines = 64
/** Requests of one address that may wait while nobody knows whose they are: as many as it may have connections. */
const waitingPerAddressMax = 1_000

/** Undefined where the turn has time; rejects nothing. */
type ArrivalTurn = (request: IncomingMessage) => Promise<void> | undefined

/** The requests of an address that wait, by connection. */
interface Waiting {
  sum: number
  readonly bySocket: Map<Socket, number>
}

/**
 * Behind a proxy all callers have one address, so whoever was authenticated before waits by principal, and so does all that
 * comes on their connection: it may bring a new token. A token that nobody has checked names nobody: anybody can make up
 * any number of them. Where too many wait, the connection with most of them is ended: neighbours share an address.
 */
export function createArrivalTurns({
  callerOf,
  addressOf,
  isProxy,
  ticks,
  after,
}: Pick<EdgeDependencies, 'callerOf' | 'addressOf' | 'ticks'> & {
  readonly isProxy: (address: string) => boolean
  readonly after: (milliseconds: number, run: () => void) => unknown
}): ArrivalTurn {
  const paceOf = createConnectionPace({ ticks, after })
  /** Connections that have brought a request. */
  const begun = new WeakSet<Socket>()
  const waiting = new Map<string, Waiting>()
  const callers = new WeakMap<Socket, string>()
  const held = new WeakMap<Socket, Set<IncomingMessage>>()

  /** The requests of a connection that wait. When it ends they keep their turn, but not their heads, which are large. */
  function heldOf(socket: Socket): Set<IncomingMessage> {
    const known = held.get(socket)
    if (known !== undefined) return known
    const requests = new Set<IncomingMessage>()
    held.set(socket, requests)
    socket.once('close', () => {
      for (const request of requests) Object.assign(request, { rawHeaders: [], headers: {} })
    })
    return requests
  }

  async function counted(
    address: string,
    request: IncomingMessage,
    turn: Promise<void>,
  ): Promise<void> {
    const { socket } = request
    const own = waiting.get(address) ?? { sum: 0, bySocket: new Map() }
    waiting.set(address, own)
    own.sum++
    own.bySocket.set(socket, (own.bySocket.get(socket) ?? 0) + 1)
    const requests = heldOf(socket).add(request)
    await turn
    requests.delete(request)
    release(address, own, socket, 1)
  }

  function release(address: string, own: Waiting, socket: Socket, most: number): void {
    // Nothing is left of a connection that was ended.
    const count = own.bySocket.get(socket) ?? 0
    const gone = Math.min(count, most)
    own.sum -= gone
    if (count > gone) own.bySocket.set(socket, count - gone)
    else own.bySocket.delete(socket)
    if (own.sum === 0) waiting.delete(address)
  }

  /** Ends the connection with most requests, which may be the one that asks. */
  function makeRoom(address: string, socket: Socket): void {
    const own = waiting.get(address)
    if (own === undefined || own.sum < waitingPerAddressMax) return
    let heaviest = socket
    let most = (own.bySocket.get(socket) ?? 0) + 1
    for (const [each, count] of own.bySocket) {
      if (count > most) [heaviest, most] = [each, count]
    }
    heaviest.destroy()
    release(address, own, heaviest, most)
  }

  /** Undefined where the first request of a connection need not wait for its address, and for all later ones. */
  function pace(address: string, socket: Socket): Promise<void> | undefined {
    // A proxy's connections carry requests of many callers.
    if (begun.has(socket) || isProxy(socket.remoteAddress ?? '')) return undefined
    begun.add(socket)
    return paceOf(address, socket)
  }

  function knownCaller({ headers, socket }: IncomingMessage): string | undefined {
    if (headers.authorization === undefined) return undefined
    const caller = callerOf(headers.authorization)
    if (isProxy(socket.remoteAddress ?? '')) return caller
    if (caller === undefined) return callers.get(socket)
    callers.set(socket, caller)
    return caller
  }

  return (request) => {
    const caller = knownCaller(request)
    if (caller !== undefined) return freeTurn(caller)
    const { socket } = request
    const address = addressGroupOf(addressOf(request))
    makeRoom(address, socket)
    if (socket.destroyed) return undefined
    const free = () => freeUnknownTurn(`address ${numberOf(address) % addressLines}`)
    const turn =
      pace(address, socket)?.then(() => (socket.destroyed ? undefined : free())) ?? free()
    return turn && counted(address, request, turn)
  }
}

/** The same for the same text. */
function numberOf(text: string): number {
  let number = 0
  for (let at = 0; at < text.length; at++) number = (number * 31 + text.charCodeAt(at)) >>> 0
  return number
}
