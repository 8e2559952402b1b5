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
import { pipeline } from 'node:stream/promises'
import { isTooFine } from '#kernel/received-bytes.ts'
import { type Destination, destinationOf, type Outbound, socketOf } from './outbound.ts'
import { requireFinalAnswer } from './request.ts'

/** Of what comes through, in bytes: the program may keep all of it. */
interface ForwardBounds {
  /** In one run, all together. */
  readonly bytesMax: number
  /** One answer over http. TLS passes through unseen, and has the bound of the run alone. */
  answerBytesMax(request: ForwardedRequest): number
}

export interface ForwardedRequest {
  readonly method: string
  readonly url: string
  /** What the body begins with, as far as it has come; empty where there is none. */
  readonly begins: string
}

interface ForwardProxy extends AsyncDisposable {
  /** The URL contains the secret: keep it off command lines. */
  readonly url: string
  /** The bound that was met, in bytes. Nothing comes through since. */
  met(): number | undefined
}

/** What one run may do. */
interface Passage {
  readonly outbound: Outbound
  readonly bounds: ForwardBounds
  /** What came through so far. */
  bytes: number
  /** Chunks of answers beside the first of each, and bytes in all of them. */
  chunks: number
  payload: number
  met: number | undefined
}

/** Whether so much more may come through. */
function admits(passage: Passage, bytes: number): boolean {
  passage.bytes += bytes
  if (passage.bytes > passage.bounds.bytesMax) passage.met ??= passage.bounds.bytesMax
  return passage.met === undefined
}

const connectMilliseconds = 10_000
const silentMilliseconds = 60_000
const beginsCharactersMax = 100
/** One answer for all that went wrong. */
const unreachable = 502

export async function openForwardProxy(
  outbound: Outbound,
  bounds: ForwardBounds,
): Promise<ForwardProxy> {
  const passage: Passage = { outbound, bounds, bytes: 0, chunks: 0, payload: 0, met: undefined }
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
    if (isKnown(asked.headers)) void forward(passage, asked, answer)
    else answer.writeHead(407, { 'proxy-authenticate': 'Basic' }).end()
  })
  server.on('connection', keep)
  server.on('connect', (asked, socket, head) => {
    socket.on('error', () => socket.destroy())
    if (isKnown(asked.headers)) void tunnel(passage, asked.url ?? '', { socket, head, keep })
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
    met: () => passage.met,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** A connected socket. Rejects when the destination is not allowed, or does not answer in time. */
async function connected({ outbound, met }: Passage, destination: Destination): Promise<Socket> {
  if (met !== undefined) throw new Error(`more than ${met} bytes came through`)
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

async function tunnel(passage: Passage, authority: string, caller: Caller): Promise<void> {
  const url = URL.parse(`https://${authority}/`)
  const { socket, head, keep } = caller
  try {
    if (url === null) throw new Error('the authority is no host with a port')
    const remote = await connected(passage, destinationOf(url))
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
    remote.on('data', (piece: Buffer) => {
      if (!admits(passage, piece.length)) end()
    })
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
  passage: Passage,
  asked: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const { outbound } = passage
  const url = URL.parse(asked.url ?? '')
  try {
    if (url?.protocol !== 'http:') throw new Error('only http is forwarded; https is tunnelled')
    const socket = await connected(passage, destinationOf(url))
    socket.setTimeout(silentMilliseconds, () => socket.destroy())
    answer.once('close', () => socket.destroy())
    const got = await answerThrough(passage, { asked, url, socket })
    const { 'content-encoding': encoding = 'identity' } = got.headers
    // A program that unpacks makes a thousand bytes of one, which nobody here would count.
    if (encoding !== 'identity') throw new Error('the answer is encoded, though none may be')
    answer.writeHead(got.statusCode ?? unreachable, handedOn(got.headers))
    // Reads all that has come at once: a write for each chunk would cost far more than the chunk.
    await pipeline(got[Symbol.asyncIterator](), answer)
  } catch (error) {
    // What breaks off later is usual: the program had enough, or left.
    const isOfNote = !answer.headersSent || error instanceof CutOff
    if (url !== null && isOfNote) outbound.failed(destinationOf(url), error)
    if (answer.headersSent) answer.destroy()
    else answer.writeHead(unreachable).end()
  }
}

/** The answer was ended here. */
class CutOff extends Error {}

interface Forwarding {
  readonly asked: IncomingMessage
  readonly url: URL
  readonly socket: Socket
}

/** The head of the answer. All that comes at the socket counts: headers and framing may be most of it. */
function answerThrough(
  passage: Passage,
  { asked, url, socket }: Forwarding,
): Promise<IncomingMessage> {
  const { method = 'GET' } = asked
  let begins = ''
  asked.once('data', (piece: Buffer) => {
    begins = piece.toString('latin1', 0, beginsCharactersMax)
  })
  const own = { host: url.host, connection: 'close', 'accept-encoding': 'identity' }
  const headers = { ...handedOn(asked.headers), ...own }
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers, createConnection: () => socket })
    let bytes = 0
    let bytesMax = Number.POSITIVE_INFINITY
    let stream: IncomingMessage | undefined
    const cut = (why: string): void => {
      const error = new CutOff(why)
      reject(error)
      stream?.destroy(error)
      socket.destroy()
    }
    call.once('response', (got) => {
      stream = got
      bytesMax = passage.bounds.answerBytesMax({ method, url: url.href, begins })
      // Whoever reads gets the error; it may come before anybody does.
      got.on('error', () => undefined)
      countChunks(passage, got, () => cut('it answers in too many tiny chunks'))
      resolve(got)
    })
    call.once('socket', () => {
      socket.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > bytesMax) passage.met ??= bytesMax
        if (!admits(passage, piece.length)) cut(`more than ${passage.met} bytes came through`)
      })
    })
    call.on('error', reject)
    requireFinalAnswer(call)
    asked.pipe(call)
  })
}

/** Counted over all answers of a run, which may be many; one that comes at once is a single chunk, which is not counted. */
function countChunks(passage: Passage, got: IncomingMessage, cut: () => void): void {
  const push = got.push.bind(got)
  let isBegun = false
  got.push = (chunk: Buffer | null, encoding) => {
    // The parser goes on with what it has of an answer that was cut.
    if (got.destroyed) return false
    if (chunk !== null) {
      if (isBegun) passage.chunks++
      isBegun = true
      passage.payload += chunk.length
    }
    if (!isTooFine(passage.chunks, passage.payload)) return push(chunk, encoding)
    cut()
    return false
  }
}
