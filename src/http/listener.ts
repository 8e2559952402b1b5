/** The sockets of the server: their limits, the ports it listens on, and the answer to bytes that are no request. */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTcpServer, type ListenOptions, Server as TcpServer } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Limits } from '#kernel/limits.ts'
import { EncryptedInput } from './encrypted-input.ts'
import { answerBrokenRequest } from './failure.ts'
import { cutFineChunks } from './fine-chunks.ts'
import { sliceInput } from './sliced-input.ts'

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
  server.on('connection', sliceInput)
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

/**
 * The group of the key exchange is the client's choice: with P-521 a handshake takes five times as long, and with the finite-field
 * groups of OpenSSL before 3.5 a hundred times. Those before 3.5 know no group that withstands quantum computers either.
 */
const [major = 0, minor = 0] = process.versions.openssl.split('.').map(Number)
const hybrid = major > 3 || (major === 3 && minor >= 5) ? 'X25519MLKEM768:' : ''
const groups = `${hybrid}X25519:P-256:P-384`

/** Honest clients change their keys after gigabytes. */
const keyChangesMax = 20

/**
 * A message that changes keys has 27 bytes and takes 20 microseconds, and OpenSSL has no bound for them. `keylog` comes with
 * each; what it brings is not looked at. Messages of the slice that was given to TLS are still taken.
 */
function boundKeyChanges(socket: TLSSocket): void {
  let changes = 0
  socket.on('keylog', () => {
    changes++
    if (changes > keyChangesMax) socket.destroy()
  })
}

/** TLS knows nothing of the connection below it. A handshake ends while a slice is taken, so that is the one of this socket. */
function setAddresses(socket: TLSSocket): void {
  const input = EncryptedInput.current
  if (input === undefined) {
    socket.destroy(new Error('a handshake ended without a slice'))
    return
  }
  const { remoteAddress, remotePort, localAddress, localPort } = input.below
  for (const [name, value] of Object.entries({
    remoteAddress,
    remotePort,
    localAddress,
    localPort,
  })) {
    Object.defineProperty(socket, name, { value })
  }
}

/** Https uses the same server: after the handshake it is a connection like any other. */
export function createSecureListener(
  server: Server,
  certificates: ServerCertificates,
  handshakeTimeout = headersTimeoutMilliseconds,
): TcpServer {
  const context = () => {
    const { certificate: cert, key } = certificates.current()
    return { cert, key, minVersion: 'TLSv1.2', ecdhCurve: groups } as const
  }
  const secure = createTlsServer({ ...context(), ALPNProtocols: ['http/1.1'] })
  // A handshake that failed or took too long is only reported: its connection would stay for ever.
  secure.on('tlsClientError', (_, socket) => socket.destroy())
  secure.on('secureConnection', (socket) => {
    setAddresses(socket)
    EncryptedInput.current?.endHandshake()
    boundKeyChanges(socket)
    server.emit('connection', socket)
  })
  certificates.onChange(() => secure.setSecureContext(context()))
  return createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const input = new EncryptedInput(socket)
    input.beginHandshake(handshakeTimeout)
    secure.emit('connection', input)
  })
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
