/**
 * The connections of the server: how many one address and all together may hold, and how they end when the server
 * stops. A stop answers what it took: connections that are in use end with their answer, and idle ones get a while to
 * ask once more before they are closed in order, so that no client finds its request reset.
 */

import type { Server, ServerResponse } from 'node:http'
import { type Socket, Server as TcpServer } from 'node:net'
import { TLSSocket, type Server as TlsServer } from 'node:tls'
import { addressGroupOf } from './client-address.ts'

interface ConnectionLimits {
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
}

export interface Connections {
  /** Connections that are open, those of https included. */
  count(): number
  /** Answers of this connection that are under way, the newest request included. */
  running(socket: Socket): number
  /** A connection that HTTP lets go of (an upgrade) is no longer ended from here, but still counted. */
  release(socket: Socket): void
  /** No new connections; then until all are gone, or cut when `seconds` have passed. */
  drain(seconds: number): Promise<void>
}

/** Part of the time of a stop during which idle connections may still ask, and its most. */
const graceShare = 0.2
const graceMillisecondsMax = 1_000
/** After our end of a connection was closed: what still comes is read and dropped, which spares the peer a reset. */
const lingerMilliseconds = 1_000

export function trackConnections(
  server: Server,
  limits: ConnectionLimits,
  isProxy: (address: string) => boolean,
  secure?: TlsServer,
): Connections {
  /** With the number of requests that are not answered yet. */
  const open = new Map<Socket, number>()
  const byAddress = new Map<string, number>()
  let ending = false

  server.maxConnections = limits.connectionsMax
  /** As they were accepted: for https, what the handshake runs over. */
  const accepted = new Set<Socket>()

  function admit(socket: Socket): boolean {
    const address = socket.remoteAddress ?? ''
    const group = addressGroupOf(address)
    const count = byAddress.get(group) ?? 0
    // Behind a proxy all callers share its connections.
    const tooMany = count >= limits.connectionsPerAddressMax && !isProxy(address)
    if (tooMany || accepted.size >= limits.connectionsMax) {
      socket.destroy()
      return false
    }
    byAddress.set(group, count + 1)
    accepted.add(socket)
    socket.once('close', () => {
      accepted.delete(socket)
      const left = (byAddress.get(group) ?? 1) - 1
      if (left > 0) byAddress.set(group, left)
      else byAddress.delete(group)
    })
    return true
  }

  secure?.on('connection', admit)

  server.on('connection', (socket: Socket) => {
    // One of https was admitted before its handshake.
    if (!(socket instanceof TLSSocket) && !admit(socket)) return
    open.set(socket, 0)
    socket.once('close', () => open.delete(socket))
  })

  // Before the router sees it, which counts on it.
  server.prependListener('request', ({ socket }: { socket: Socket }, response: ServerResponse) => {
    const running = open.get(socket)
    if (running === undefined) return
    open.set(socket, running + 1)
    response.once('close', () => {
      const left = (open.get(socket) ?? 0) - 1
      if (left < 0) return
      open.set(socket, left)
      if (ending && left === 0) finish(socket)
    })
  })

  /** Closes our side and lets the peer close its own. */
  function finish(socket: Socket): void {
    if (!open.delete(socket) || socket.destroyed) return
    socket.end()
    socket.resume()
    const cut = setTimeout(() => socket.destroy(), lingerMilliseconds)
    socket.once('close', () => clearTimeout(cut))
  }

  return {
    count: () => accepted.size,
    running: (socket) => open.get(socket) ?? 0,
    release: (socket) => open.delete(socket),
    async drain(seconds) {
      // What HTTP's own `close` does besides this, it would do at once: destroy idle connections.
      const closed = Promise.all(
        [server, secure].map(
          (one) =>
            one?.listening !== true ||
            new Promise((resolve) => TcpServer.prototype.close.call(one, resolve)),
        ),
      )
      const grace = setTimeout(
        () => {
          ending = true
          for (const [socket, running] of open) if (running === 0) finish(socket)
        },
        Math.min(graceMillisecondsMax, seconds * 1000 * graceShare),
      )
      const cut = setTimeout(() => {
        server.closeAllConnections()
        // Those whose handshake has not ended are no connections of HTTP yet.
        for (const socket of accepted) socket.destroy()
      }, seconds * 1000)
      await closed
      clearTimeout(grace)
      clearTimeout(cut)
    },
  }
}
