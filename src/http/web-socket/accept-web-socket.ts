/**
 * A web socket (RFC 6455) on a connection that asked to become one: handshake, messages, pings, closing. No
 * extensions, no subprotocols. It decides nothing about who may connect.
 */

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  createFrameReader,
  encodeClose,
  encodeFrame,
  type Fault,
  type Frame,
  opcodes,
} from './frames.ts'

export interface WebSocketLimits {
  readonly messageBytesMax: number
  /** Messages that wait to be read, in bytes; then the client waits. */
  readonly waitingBytesMax: number
  /** A peer that answers no ping for that long is gone. */
  readonly pingSeconds: number
  /** How long the peer has to close its side. */
  readonly closeSeconds: number
}

export interface WebSocket {
  /** Whole messages, text as UTF-8; ends when either side closes. Read once. */
  readonly messages: AsyncIterable<Buffer>
  /** Resolves when the connection takes more. After the end it does nothing. */
  send(bytes: Uint8Array): Promise<void>
  /** Says goodbye; the second time does nothing. */
  close(code: number, reason: string): void
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>
}

const keySuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Answers the handshake. Undefined, with the refusal sent, when it is not one. */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  limits: WebSocketLimits,
): WebSocket | undefined {
  const { headers } = request
  const key = headers['sec-websocket-key'] ?? ''
  const isHandshake =
    request.method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    /^[A-Za-z0-9+/]{22}==$/.test(key)
  if (!isHandshake) {
    refuseUpgrade(socket, 400, 'Bad Request')
    return undefined
  }
  if (headers['sec-websocket-version'] !== '13') {
    refuseUpgrade(socket, 426, 'Upgrade Required', 'Sec-WebSocket-Version: 13\r\n')
    return undefined
  }
  const accept = createHash('sha1').update(`${key}${keySuffix}`).digest('base64')
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  )
  return talk(socket, head, limits)
}

/** An answer without a body, on a connection that HTTP has already let go of. */
export function refuseUpgrade(socket: Duplex, status: number, words: string, more = ''): void {
  socket.on('error', () => {})
  socket.end(`HTTP/1.1 ${status} ${words}\r\n${more}Content-Length: 0\r\nConnection: close\r\n\r\n`)
  socket.resume()
}

function talk(socket: Duplex, head: Buffer, limits: WebSocketLimits): WebSocket {
  const reader = createFrameReader(limits.messageBytesMax)
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let wake: () => void = () => {}
  let pieces: Buffer[] = []
  let piecesBytes = 0
  let kind: number | undefined
  let state: 'open' | 'closing' | 'closed' = 'open'
  let isAlive = true
  const { promise: closed, resolve: gone } = Promise.withResolvers<void>()

  const pinging = setInterval(() => {
    // While nothing is read on purpose, no answer can be seen.
    if (socket.isPaused()) return
    if (!isAlive) {
      socket.destroy()
      return
    }
    isAlive = false
    socket.write(encodeFrame(opcodes.ping, Buffer.alloc(0)))
  }, limits.pingSeconds * 1000)
  pinging.unref()

  function leave(fault: Fault): void {
    if (state !== 'open') return
    state = 'closing'
    pieces = []
    socket.end(encodeFrame(opcodes.close, encodeClose(fault)))
    // What still comes is read and dropped, so that the goodbye is not lost to a reset.
    socket.resume()
    setTimeout(() => socket.destroy(), limits.closeSeconds * 1000).unref()
    wake()
  }

  function take({ opcode, payload, final }: Frame): void {
    switch (opcode) {
      case opcodes.pong:
        break
      case opcodes.ping:
        // A peer that asks and does not read the answers must not pile them up here.
        if (socket.writableLength > limits.waitingBytesMax) socket.destroy()
        else socket.write(encodeFrame(opcodes.pong, payload))
        break
      case opcodes.close:
        leave(answerTo(payload))
        break
      default:
        takePiece(opcode, payload, final)
    }
  }

  function takePiece(opcode: number, payload: Buffer, final: boolean): void {
    if ((opcode === opcodes.continuation) === (kind === undefined)) {
      leave({ code: 1002, reason: 'a message is continued out of turn' })
      return
    }
    kind ??= opcode
    piecesBytes += payload.length
    // Empty pieces take memory, too.
    if (Math.max(piecesBytes, pieces.length) > limits.messageBytesMax) {
      leave({ code: 1009, reason: `a message has at most ${limits.messageBytesMax} bytes` })
      return
    }
    pieces.push(payload)
    if (!final) return
    const message = Buffer.concat(pieces)
    const isText = kind === opcodes.text
    pieces = []
    piecesBytes = 0
    kind = undefined
    if (isText && !isUtf8(message)) {
      leave({ code: 1007, reason: 'a text is not UTF-8' })
      return
    }
    waiting.push(message)
    // An empty message takes room as well.
    waitingBytes += message.length + 1
    if (waitingBytes > limits.waitingBytesMax) socket.pause()
    wake()
  }

  function read(chunk: Buffer): void {
    if (state !== 'open') return
    isAlive = true
    const { frames, fault } = reader.push(chunk)
    for (const frame of frames) {
      if (state === 'open') take(frame)
    }
    if (fault !== undefined) leave(fault)
  }

  socket.on('data', read)
  socket.on('end', () => socket.end())
  // A reset is an end like any other; `close` follows.
  socket.on('error', () => {})
  socket.on('close', () => {
    state = 'closed'
    clearInterval(pinging)
    wake()
    gone()
  })
  if (head.length > 0) read(head)

  return {
    messages: (async function* () {
      for (;;) {
        const next = waiting.shift()
        if (next !== undefined) {
          waitingBytes -= next.length + 1
          if (waitingBytes <= limits.waitingBytesMax && socket.isPaused()) socket.resume()
          yield next
        } else if (state === 'open') {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        } else {
          return
        }
      }
    })(),
    async send(bytes) {
      if (state !== 'open' || socket.write(encodeFrame(opcodes.binary, bytes))) return
      await new Promise<void>((resolve) => {
        const done = (): void => {
          socket.off('drain', done)
          socket.off('close', done)
          resolve()
        }
        socket.on('drain', done)
        socket.on('close', done)
      })
    },
    close: (code, reason) => leave({ code, reason }),
    closed,
  }
}

/** A peer that closes is answered with its own code, where that is one. */
function answerTo(payload: Buffer): Fault {
  if (payload.length === 0) return { code: 1000, reason: '' }
  const code = payload.length === 1 ? 0 : payload.readUInt16BE(0)
  const isCode =
    (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) ||
    (code >= 3000 && code <= 4999)
  if (!isCode) return { code: 1002, reason: 'there is no such closing code' }
  return isUtf8(payload.subarray(2))
    ? { code, reason: '' }
    : { code: 1007, reason: 'a reason is not UTF-8' }
}
