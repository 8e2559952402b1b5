/**
 * One keep-alive connection of the load generator: sends a request, waits for the whole answer, sends the next. To
 * be cheap, it reads of an answer only its status and where it ends.
 */

import { connect, type Socket } from 'node:net'

interface Traffic {
  /** The bytes of the next request. They may be overwritten after the next call. */
  next(): Buffer
  /** Called with each answer; false ends the connection. */
  answered(status: number, bytes: number, milliseconds: number): boolean
  failed(error: Error): void
}

const readBufferBytes = 256 * 1024
const headEnd = Buffer.from('\r\n\r\n')
const chunksEnd = '\r\n0\r\n\r\n'

export function openConnection(host: string, port: number, traffic: Traffic): Socket {
  const buffer = Buffer.allocUnsafe(readBufferBytes)
  let sentAt = 0
  let status = 0
  let bytes = 0
  /** Bytes of the answer still to come; negative while its head is incomplete; infinite for chunked encoding. */
  let missing = -1
  let head: Buffer | undefined
  let tail = ''

  const socket = connect({
    host,
    port,
    noDelay: true,
    onread: {
      buffer,
      callback: (count) => {
        take(buffer.subarray(0, count))
        return true
      },
    },
  })
  socket.on('connect', send)
  socket.on('error', (error) => traffic.failed(error))
  socket.on('end', () => traffic.failed(new Error('the server closed a connection')))
  return socket

  function send(): void {
    status = 0
    bytes = 0
    missing = -1
    head = undefined
    tail = ''
    sentAt = performance.now()
    socket.write(traffic.next())
  }

  function take(part: Buffer): void {
    bytes += part.length
    if (missing < 0) readHead(part)
    else if (missing === Number.POSITIVE_INFINITY) readChunks(part)
    else missing -= part.length
    if (missing !== 0) {
      if (status !== 0 && missing < 0)
        traffic.failed(new Error('an answer was longer than it said'))
      return
    }
    if (traffic.answered(status, bytes, performance.now() - sentAt)) send()
    else socket.destroy()
  }

  function readHead(part: Buffer): void {
    const seen = head === undefined ? part : Buffer.concat([head, part])
    const end = seen.indexOf(headEnd)
    if (end < 0) {
      head = Buffer.from(seen)
      return
    }
    const text = seen.toString('latin1', 0, end)
    status = Number(text.slice(9, 12))
    const length = /\r\ncontent-length: *([0-9]+)/i.exec(text)?.[1]
    const body = seen.length - end - headEnd.length
    if (length !== undefined) missing = Number(length) - body
    else if (/\r\ntransfer-encoding: *chunked/i.test(text)) {
      missing = Number.POSITIVE_INFINITY
      readChunks(seen.subarray(end + 2))
    } else missing = 0
  }

  /** With one request at a time, a chunked answer ends where the bytes end with the last chunk. */
  function readChunks(part: Buffer): void {
    tail = (tail + part.toString('latin1', Math.max(0, part.length - 7))).slice(-7)
    if (tail === chunksEnd) missing = 0
  }
}
