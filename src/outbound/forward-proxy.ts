/**
 * A forward proxy on loopback for one run of a program that opens connections by itself (git). The policy judges
 * everything the program connects to, redirects included, and the program resolves no names. TLS passes through
 * unchanged, so the program checks certificates itself. A client must know the run's secret.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Destination, destinationOf, type Outbound, socketOf } from './outbound.ts'

interface ForwardProxy extends AsyncDisposable {
  /** The URL contains the secret: keep it off command lines. */
  readonly url: string
}

const connectMilliseconds = 10_000
const silentMilliseconds = 60_000
/** One answer for all that went wrong. */
const unreachable = 502

export async function openForwardProxy(outbound: Outbound): Promise<ForwardProxy> {
  const secret = randomBytes(24).toString('base64url')
  const expected = Buffer.from(`Basic ${Buffer.from(`armature:${secret}`).toString('base64')}`)
  const isKnown = ({ 'proxy-authorization': given = '' }: IncomingHttpHeaders): boolean => {
    const bytes = Buffer.from(given)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  }
  const sockets = new Set<Duplex>()
  const keep = (socket: Duplex): void => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer((asked, answer) => {
    if (isKnown(asked.headers)) void forward(outbound, asked, answer)
    else answer.writeHead(407, { 'proxy-authenticate': 'Basic' }).end()
  })
  server.on('connection', keep)
  server.on('connect', (asked, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (isKnown(asked.headers)) void tunnel(outbound, asked.url ?? '', { socket, head, keep })
    else socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  // The address of a server that listens on a port has this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://armature:${secret}@127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** A connected socket. Rejects when the destination is not allowed, or does not answer in time. */
async function connected(outbound: Outbound, destination: Destination): Promise<Socket> {
  const socket = socketOf(await outbound.route(destination))
  try {
    await new Promise<void>((resolve, reject) => {
      const late = () => reject(new Error('the connection takes too long'))
      socket.setTimeout(connectMilliseconds, late)
      socket.once('error', reject).once('connect', resolve)
      socket.connect(destination.port, destination.host)
    })
    return socket
  } catch (error) {
    socket.destroy()
    throw outbound.failed(destination, error)
  }
}

interface Caller {
  readonly socket: Duplex
  readonly head: Buffer
  keep(socket: Duplex): void
}

async function tunnel(outbound: Outbound, authority: string, caller: Caller): Promise<void> {
  const url = URL.parse(`https://${authority}/`)
  const { socket, head, keep } = caller
  try {
    if (url === null) throw new Error('the authority is no host with a port')
    const remote = await connected(outbound, destinationOf(url))
    keep(remote)
    const end = (): void => {
      remote.destroy()
      socket.destroy()
    }
    remote.setTimeout(silentMilliseconds, end)
    remote.once('error', end).once('close', end)
    socket.once('close', end)
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    remote.write(head)
    socket.pipe(remote).pipe(socket)
  } catch {
    // The operator's log has the reason; the program only learns that it cannot connect.
    socket.end(`HTTP/1.1 ${unreachable} Bad Gateway\r\n\r\n`)
  }
}

/** Headers of one connection, which are not forwarded (RFC 9110, 7.6.1). */
const ofConnection: ReadonlySet<string> = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer upgrade'.split(
    ' ',
  ),
)

function handedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || ofConnection.has(name) ? [] : [[name, value] as const],
  )
  return Object.fromEntries(kept)
}

async function forward(
  outbound: Outbound,
  asked: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const url = URL.parse(asked.url ?? '')
  try {
    if (url?.protocol !== 'http:') throw new Error('only http is forwarded; https is tunnelled')
    const socket = await connected(outbound, destinationOf(url))
    socket.setTimeout(silentMilliseconds, () => socket.destroy())
    const got = await new Promise<IncomingMessage>((resolve, reject) => {
      const { method } = asked
      const headers = { ...handedOn(asked.headers), host: url.host, connection: 'close' }
      const call = request(url, { method, headers, createConnection: () => socket }, resolve)
      call.once('error', reject)
      answer.once('close', () => socket.destroy())
      asked.pipe(call)
    })
    answer.writeHead(got.statusCode ?? unreachable, handedOn(got.headers))
    got.once('error', () => answer.destroy())
    got.pipe(answer)
  } catch (error) {
    if (url !== null) outbound.failed(destinationOf(url), error)
    if (answer.headersSent) answer.destroy()
    else answer.writeHead(unreachable).end()
  }
}
