/**
 * A web socket (RFC 6455) on a connection that asked to become one, by `ws`: handshake, messages, pings, closing, each
 * with a bound. No extensions, no subprotocols. It decides nothing about who may connect.
 */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ServerOptions, WebSocketServer, WebSocket as WsWebSocket } from 'ws'

export interface WebSocketLimits {
  readonly messageBytesMax: number
  /** Chunks in which one message may arrive. */
  readonly fragmentsMax: number
  /** Unread messages in bytes; above it the client has to wait. */
  readonly waitingBytesMax: number
  /** Answers to pings that the client has not read; a client with more is cut off. */
  readonly waitingPongsMax: number
  /** A peer that answers no ping for that long is taken as gone. */
  readonly pingSeconds: number
  /** Seconds the peer has to close its side. */
  readonly closeSeconds: number
}

export interface WebSocket {
  /** Whole messages, text as UTF-8; ends when either side closes. Read once. */
  readonly messages: AsyncIterable<Buffer>
  /** Resolves when the connection has accepted them. Does nothing after the end. */
  send(bytes: Uint8Array): Promise<void>
  /** Sends the closing code and reason; a second call does nothing. */
  close(code: number, reason: string): void
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>
}

/** What asks to become a web socket: the request, its connection, and the bytes that came after the request. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** Answers a handshake. Undefined when it is invalid; the refusal was sent then. */
type AcceptWebSocket = (upgrade: Upgrade) => WebSocket | undefined

export function createWebSocketAcceptor(limits: WebSocketLimits): AcceptWebSocket {
  // The types of `ws` do not know the last two.
  const options: ServerOptions<ReturnType<typeof reportingSocket>> & {
    closeTimeout: number
    maxPendingAutoPongs: number
  } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    handleProtocols: () => false,
    WebSocket: reportingSocket(limits),
    maxPayload: limits.messageBytesMax,
    maxFragments: limits.fragmentsMax,
    maxBufferedChunks: limits.fragmentsMax,
    closeTimeout: limits.closeSeconds * 1000,
    maxPendingAutoPongs: limits.waitingPongsMax,
  }
  const server = new WebSocketServer(options)
  server.on('wsClientError', (_, socket) => refuseUpgrade(socket, 400, 'Bad Request'))
  return ({ request, socket, head }) => {
    // `ws` would also accept version 8.
    const version = request.headers['sec-websocket-version'] ?? '13'
    if (version !== '13' && request.headers.upgrade?.toLowerCase() === 'websocket') {
      refuseUpgrade(socket, 426, 'Upgrade Required', 'Sec-WebSocket-Version: 13\r\n')
      return undefined
    }
    let accepted: WebSocket | undefined
    // Calls back before it returns.
    server.handleUpgrade(request, socket, head, (peer) => {
      accepted = serve(peer, socket, limits)
    })
    return accepted
  }
}

/** Adds what `ws` lacks: a reason when it closes by itself, and a notice of the close before the connection is gone. */
function reportingSocket(limits: WebSocketLimits) {
  const reasons: Readonly<Record<number, string>> = {
    1002: 'the frames are not as RFC 6455 says',
    1007: 'a text is not UTF-8',
    1008: `a message has at most ${limits.fragmentsMax} fragments`,
    1009: `a message has at most ${limits.messageBytesMax} bytes`,
  }
  return class ReportingSocket extends WsWebSocket {
    onClosing: () => void = () => {}
    override close(code?: number, reason?: string | Buffer): void {
      super.close(code, reason ?? (code === undefined ? undefined : reasons[code]))
      this.onClosing()
    }
  }
}

type ReportingSocket = InstanceType<ReturnType<typeof reportingSocket>>

/** Time for the peer of a refused connection to close its side. */
const refusedMilliseconds = 2000

/** Sends an answer without a body on a connection that HTTP has released. */
export function refuseUpgrade(socket: Duplex, status: number, words: string, more = ''): void {
  socket.on('error', () => {})
  // HTTP's timers do not cover it any more, and a peer that keeps its side open would hold the connection for ever.
  const late = setTimeout(() => socket.destroy(), refusedMilliseconds)
  late.unref()
  socket.on('close', () => clearTimeout(late))
  socket.end(`HTTP/1.1 ${status} ${words}\r\n${more}Content-Length: 0\r\nConnection: close\r\n\r\n`)
  socket.resume()
}

function serve(peer: ReportingSocket, socket: Duplex, limits: WebSocketLimits): WebSocket {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let wake: () => void = () => {}
  let isAlive = true
  const { promise: closed, resolve: gone } = Promise.withResolvers<void>()
  const isOpen = (): boolean => peer.readyState === WsWebSocket.OPEN

  const pinging = setInterval(() => {
    // While reading is paused, no pong can arrive.
    if (peer.isPaused || !isOpen()) return
    if (!isAlive) {
      peer.terminate()
      return
    }
    isAlive = false
    peer.ping()
  }, limits.pingSeconds * 1000)
  pinging.unref()

  socket.on('data', () => {
    isAlive = true
  })
  // `binaryType` is a single buffer unless told otherwise.
  peer.on('message', (message: Buffer) => {
    if (!isOpen()) return
    waiting.push(message)
    waitingBytes += bytesOf(message)
    if (waitingBytes > limits.waitingBytesMax) peer.pause()
    wake()
  })
  peer.onClosing = () => wake()
  socket.on('end', () => wake())
  // The closing code was sent; `close` follows.
  peer.on('error', () => {})
  peer.on('close', () => {
    clearInterval(pinging)
    wake()
    gone()
  })

  // Takes all waiting messages at once: removing them one by one from the front would move the rest each time.
  async function* messages(): AsyncIterable<Buffer> {
    for (let count = 0; ; ) {
      const taken = waiting
      waiting = []
      for (const next of taken) {
        waitingBytes -= bytesOf(next)
        // Resumes only at half, since each resume brings in many messages.
        if (waitingBytes <= limits.waitingBytesMax / 2 && peer.isPaused) peer.resume()
        yield next
        count++
        if (count % messagesAtOnce === 0) await nextTurn()
      }
      if (waiting.length > 0) continue
      if (!isOpen()) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return {
    messages: messages(),
    send: (bytes) =>
      new Promise((resolve) => {
        if (isOpen()) peer.send(bytes, { binary: true }, () => resolve())
        else resolve()
      }),
    close(code, reason) {
      if (!isOpen()) return
      peer.close(code, cutReason(reason))
      // Whatever still arrives is read and dropped, so that the peer's closing frame is seen.
      peer.resume()
    },
    closed,
  }
}

/** Messages handled before other connections get a turn. */
const messagesAtOnce = 500
/** Memory of a message besides its bytes. */
const messageOverheadBytes = 64

function bytesOf(message: Buffer): number {
  return message.length + messageOverheadBytes
}

const reasonBytesMax = 123

/** The longest part of a reason that fits in a closing frame, cut between characters. */
export function cutReason(reason: string): string {
  const bytes = Buffer.from(reason, 'utf8')
  if (bytes.length <= reasonBytesMax) return reason
  let text = bytes.subarray(0, reasonBytesMax).toString('utf8')
  // A character that was cut in two decodes to a replacement character.
  while (!reason.startsWith(text)) text = text.slice(0, -1)
  return text
}
