/**
 * The connections of the server: how many one address and all together may hold, and how they end when the server
 * stops. A stop answers every accepted request: a busy connection ends with its answer, and an idle one may send one
 * more request before it is closed in order, so that no client sees a reset.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket, Server as TcpServer } from 'node:net'
import { totalmem } from 'node:os'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { getHeapStatistics } from 'node:v8'
import { connected } from '#plane/next-turn.ts'
import { addressGroupOf } from './client-address.ts'
import { EncryptedInput } from './encrypted-input.ts'
import { createHeadsAhead } from './heads-ahead.ts'

interface ConnectionLimits {
  readonly connectionsMax: number
  /** Of proxies, with all others. */
  readonly proxyConnectionsMax: number
  readonly connectionsPerAddressMax: number
  /** Requests of one connection that are not answered yet. */
  readonly requestsPerConnectionMax: number
}

export interface Connections {
  /** Connections that are open, those of https included. */
  count(): number
  /** Whether no request of it waits for its answer. */
  isIdle(socket: Socket): boolean
  /** After an upgrade the connection is still counted, but no longer closed from here. */
  release(socket: Socket): void
  /** Cuts half of all: of whoever has most of them, those that came last. */
  cutHalf(): void
  /** Waits until all are gone, where no new ones are accepted. After `seconds` the rest is cut. */
  drain(seconds: number, closed: Promise<unknown>): Promise<void>
}

/** The share of the stop's time in which idle connections may still send a request, and its maximum. */
const graceShare = 0.2
const graceMillisecondsMax = 1_000
const lingerMilliseconds = 1_000

/**
 * What a connection takes of the heap with a request and the head of the next one, both as large as can be; and of all memory over
 * https. Proxies send a head when all of it is there, and take fewer headers.
 */
const connectionBytes = 100 * 1024
const proxyBytes = 25 * 1024
/** All connections may take this part of each, and requests that came ahead of their turn that part of the heap. */
const connectionsShare = 1 / 4
const aheadShare = 1 / 32

interface Memory {
  readonly heapBytes: number
  readonly allBytes: number
}

export function ownMemory(): Memory {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY
  return {
    heapBytes: getHeapStatistics().heap_size_limit,
    allBytes: Math.min(constrained, totalmem()),
  }
}

/** The connections that fit beside each other; `isSecure` where this server has a certificate. */
export function fittingConnections(
  connectionsMax: number,
  isSecure: boolean,
  { heapBytes, allBytes }: Memory = ownMemory(),
): Pick<ConnectionLimits, 'connectionsMax' | 'proxyConnectionsMax'> {
  const inAll = isSecure ? allBytes / connectionBytes : Number.POSITIVE_INFINITY
  const fitting = (bytes: number): number =>
    Math.min(connectionsMax, Math.floor(connectionsShare * Math.min(heapBytes / bytes, inAll)))
  return { connectionsMax: fitting(connectionBytes), proxyConnectionsMax: fitting(proxyBytes) }
}

export function trackConnections(
  server: Server,
  limits: ConnectionLimits,
  isProxy: (address: string) => boolean,
  secure?: TcpServer,
): Connections {
  /** Each with the answers that are not sent yet. */
  const open = new Map<Socket, Set<ServerResponse>>()
  /** In the order in which they were accepted. */
  const byAddress = new Map<string, Set<Socket>>()
  const noteAhead = createHeadsAhead(ownMemory().heapBytes * aheadShare)
  let ending = false

  /** Connections as accepted: for https, the TCP connection below the handshake. */
  const accepted = new Set<Socket>()
  /** The connections of https above them. */
  const encrypted = new WeakMap<Socket, Socket>()
  let proxied = 0

  function admit(socket: Socket): boolean {
    connected()
    const address = socket.remoteAddress ?? ''
    const group = addressGroupOf(address)
    const own = byAddress.get(group) ?? new Set()
    // Behind a proxy all callers share its connections.
    const ofProxy = isProxy(address)
    const tooMany = own.size >= limits.connectionsPerAddressMax && !ofProxy
    const isFull =
      accepted.size >= limits.proxyConnectionsMax ||
      (!ofProxy && accepted.size - proxied >= limits.connectionsMax)
    if (tooMany || (isFull && !makeRoom(own))) {
      socket.destroy()
      return false
    }
    byAddress.set(group, own.add(socket))
    accepted.add(socket)
    if (ofProxy) proxied++
    socket.once('close', () => {
      accepted.delete(socket)
      if (ofProxy) proxied--
      own.delete(socket)
      if (own.size === 0 && byAddress.get(group) === own) byAddress.delete(group)
    })
    return true
  }

  function isIdle(socket: Socket): boolean {
    return open.get(encrypted.get(socket) ?? socket)?.size === 0
  }

  function makeRoom(own: ReadonlySet<Socket>): boolean {
    const most = largestOf(byAddress, isProxy)
    const ended = placeFor(own, most, isIdle)
    if (ended === undefined) return false
    ended.destroy()
    // Its end is told later.
    most.delete(ended)
    accepted.delete(ended)
    return true
  }

  secure?.on('connection', admit)

  server.on('connection', (socket: Socket) => {
    // A connection of https was admitted before its handshake, and comes while a slice of the one below is taken.
    if (!(socket instanceof TLSSocket)) {
      if (!admit(socket)) return
    } else if (EncryptedInput.current) encrypted.set(EncryptedInput.current.below, socket)
    open.set(socket, unsentOf(socket))
    socket.once('close', () => open.delete(socket))
  })

  // Pipelined answers wait for those before them, whoever answers. What was cut is not counted: nobody routes it.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const unsent = open.get(socket)
    if (unsent === undefined) return
    if (unsent.size >= limits.requestsPerConnectionMax) socket.destroy()
    else if (unsent.size > 0 && !socket.destroyed) noteAhead(request, response)
    if (socket.destroyed) {
      stopParsing(socket)
      return
    }
    if (request.headers.upgrade !== undefined) readNoMore(socket, response)
    unsent.add(response)
    response.once('close', () => {
      unsent.delete(response)
      if (ending && unsent.size === 0) finish(socket)
    })
  })

  /** Closes our side and lets the peer close its own. */
  function finish(socket: Socket): void {
    if (open.delete(socket) && !socket.destroyed) endInOrder(socket, lingerMilliseconds)
  }

  return {
    count: () => accepted.size,
    isIdle,
    release: (socket) => open.delete(socket),
    cutHalf: () => {
      for (const socket of newestHalf(byAddress, accepted.size)) socket.destroy()
    },
    async drain(seconds, closed) {
      const grace = setTimeout(
        () => {
          ending = true
          for (const [socket, { size }] of open) if (size === 0) finish(socket)
        },
        Math.min(graceMillisecondsMax, seconds * 1000 * graceShare),
      )
      const cut = setTimeout(() => {
        server.closeAllConnections()
        // Before the end of the handshake, HTTP does not know the connection.
        for (const socket of accepted) socket.destroy()
      }, seconds * 1000)
      await closed
      clearTimeout(grace)
      clearTimeout(cut)
    },
  }
}

/** The runtime forgets those that wait for their turn when a request is for another protocol: they would stay for ever. */
function unsentOf(socket: Socket): Set<ServerResponse> {
  const unsent = new Set<ServerResponse>()
  socket.once('close', () => {
    for (const response of unsent) response.destroy()
  })
  return unsent
}

/** The runtime drops what came behind a request for another protocol in one piece, and would take the rest for the next one. */
function readNoMore(socket: Socket, response: ServerResponse): void {
  response.shouldKeepAlive = false
  stopParsing(socket)
}

/**
 * The runtime parses all it has read of a connection, 64 KB, also when that was ended, and keeps each request until the end of
 * the turn of the loop, in which it reads a thousand connections. Two says that what follows the next head is no HTTP.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: Parser | null }
  if (!parser) return
  parser.onIncoming = (request) => {
    request.upgrade = false
    return 2
  }
}

interface Parser {
  onIncoming(request: { upgrade: boolean }): number
}

function largestOf(
  byAddress: ReadonlyMap<string, Set<Socket>>,
  isProxy: (address: string) => boolean,
): Set<Socket> {
  let most = new Set<Socket>()
  for (const sockets of byAddress.values()) {
    const [one] = sockets
    if (sockets.size > most.size && !isProxy(one?.remoteAddress ?? '')) most = sockets
  }
  return most
}

/**
 * Of whoever has most connections, and more than whoever comes, one is ended: an idle one, where there is one. Whoever has most
 * themselves gives an idle one for it.
 */
function placeFor(
  own: ReadonlySet<Socket>,
  most: ReadonlySet<Socket>,
  isIdle: (socket: Socket) => boolean,
): Socket | undefined {
  const isOwn = most === own
  if (most.size <= own.size + 1 && !isOwn) return undefined
  const [oldest] = most
  return [...most].find(isIdle) ?? (isOwn ? undefined : oldest)
}

function newestHalf(
  byAddress: ReadonlyMap<string, ReadonlySet<Socket>>,
  count: number,
): readonly Socket[] {
  const most = [...byAddress.values()].toSorted((one, other) => other.size - one.size)
  return most.flatMap((sockets) => [...sockets].reverse()).slice(0, count / 2)
}

/**
 * Closes our side. What the peer still sends is read and dropped for so long: a reset would take the last answer from
 * it.
 */
export function endInOrder(socket: Duplex, milliseconds: number): void {
  socket.end()
  // The runtime's own listener throws where it has paused the socket itself, for answers that wait.
  socket.removeAllListeners('data')
  socket.resume()
  const cut = setTimeout(() => socket.destroy(), milliseconds)
  socket.once('close', () => clearTimeout(cut))
}

/** Ends what is still sent after so long. */
export function destroyAfter(request: IncomingMessage, milliseconds: number): void {
  const late = setTimeout(() => request.destroy(), milliseconds)
  late.unref()
  request.once('close', () => clearTimeout(late))
}
