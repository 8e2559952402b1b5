/** The sockets of the server: their limits, the ports it listens on, and the answer to bytes that are no request. */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTcpServer, type ListenOptions, Server as TcpServer } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls'
import type { Limits } from '#kernel/limits.ts'
import { answerBrokenRequest } from './failure.ts'
import { cutFineChunks } from './fine-chunks.ts'

/** Time for a request's head, and for an idle connection. */
const headersTimeoutMilliseconds = 15_000
const keepAliveMilliseconds = 72_000
const checkMilliseconds = 5_000
/** Connections that the system holds until they are accepted. With fewer, a flood of them makes it drop those of others. */
const backlog = 4_096

export function createListener(
  limits: Pick<Limits, 'requestSeconds' | 'headerBytesMax'>,
  upgrades: (request: IncomingMessage) => boolean,
): Server {
  const requestTimeout = Math.ceil(limits.requestSeconds * 1000)
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    // `node:http` refuses a longer time for the head than for the whole request.
    headersTimeout: Math.min(headersTimeoutMilliseconds, requestTimeout),
    requestTimeout,
    keepAliveTimeout: keepAliveMilliseconds,
    connectionsCheckingInterval: checkMilliseconds,
    // `correlate` checks it, with an error body of the right family.
    requireHostHeader: false,
    optimizeEmptyRequests: true,
    shouldUpgradeCallback: upgrades,
  })
  server.on('clientError', answerBrokenRequest)
  server.on('request', cutFineChunks)
  // `read-body` sends `100 Continue` once the upload is allowed; other expectations are refused.
  server.on('checkContinue', (request, response) => server.emit('request', request, response))
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}

/** The certificates of https, and a callback for when they change. */
export interface ServerCertificates {
  current(): { readonly certificate: string; readonly key: string }
  onChange(callback: () => void): void
}

/** Https uses the same server: after the handshake it is a connection like any other. */
export function createSecureListener(
  server: Server,
  certificates: ServerCertificates,
  handshakeTimeout = headersTimeoutMilliseconds,
): TlsServer {
  const pair = () => {
    const { certificate: cert, key } = certificates.current()
    return { cert, key }
  }
  const secure = createTlsServer({
    ...pair(),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    handshakeTimeout,
  })
  // A handshake that failed or took too long is only reported: its connection would stay for ever.
  secure.on('tlsClientError', (_, socket) => socket.destroy())
  secure.on('secureConnection', (socket) => server.emit('connection', socket))
  certificates.onChange(() => secure.setSecureContext(pair()))
  return secure
}

/** A port that is listened on. */
export interface Listening {
  readonly port: number
  /** Accepts no more connections, and resolves when those that were accepted are gone. */
  close(): Promise<void>
}

/**
 * The runtime accepts one connection of a socket in each turn of its loop. Behind a flood of new connections another one would
 * wait for as many turns as there are before it. So several sockets listen on a port, where the system can share it.
 */
const socketsPerPort = process.platform === 'linux' ? 16 : 1

/** Port 0 takes a free one. */
export async function listen(
  server: TcpServer,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const reusePort = socketsPerPort > 1
  const more = Array.from({ length: socketsPerPort - 1 }, () =>
    createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit('connection', socket),
    ).unref(),
  )
  const close = async (): Promise<void> => {
    await Promise.all([server, ...more].map(closeServer))
  }
  await using opening = new AsyncDisposableStack()
  opening.defer(close)
  // A shared port would also be shared with another process of this user, so that it would start at a port in use.
  if (reusePort && port !== 0) {
    const probe = createTcpServer()
    await open(probe, { host, port })
    await closeServer(probe)
  }
  const taken = await open(server, { host, port, reusePort })
  await Promise.all(more.map((one) => open(one, { host, port: taken, reusePort })))
  opening.move()
  return { port: taken, close }
}

async function open(server: TcpServer, where: ListenOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...where, backlog }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

/** `close` of an HTTP server would also destroy idle connections at once. It resolves too where nothing listens. */
function closeServer(server: TcpServer): Promise<unknown> {
  return new Promise((resolve) => TcpServer.prototype.close.call(server, resolve))
}
