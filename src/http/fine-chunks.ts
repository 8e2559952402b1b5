/**
 * Bodies that come in pieces. Each piece is a buffer of its own until somebody has read it, and takes some hundred bytes of memory
 * beside its own, so small ones that came in one turn of the loop are put together. The connection of a body that comes in very
 * many tiny pieces (chunks, or messages of TLS) is cut: counted here, it does not matter who reads. Nobody reads trailers, which
 * are as large as a head: they are dropped.
 */

import type { IncomingMessage } from 'node:http'
import { isTooFine, ReceivedBytes } from '#kernel/received-bytes.ts'
import { announcesBody } from './exchange.ts'

const smallBytes = 1024

export function cutFineChunks(request: IncomingMessage): void {
  if (!announcesBody(request)) return
  let chunks = 0
  let bytes = 0
  let small = new ReceivedBytes()
  const push = request.push.bind(request)
  function flush(): void {
    if (small.length === 0) return
    const together = Buffer.from(small.all())
    small = new ReceivedBytes()
    if (!request.destroyed) push(together)
  }
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      flush()
      request.rawTrailers = []
      return push(null)
    }
    chunks++
    bytes += chunk.length
    if (isTooFine(chunks, bytes)) {
      request.socket.destroy()
      return false
    }
    if (chunk.length >= smallBytes) {
      flush()
      return push(chunk)
    }
    if (small.length === 0) setImmediate(flush)
    small.add(chunk)
    return request.readableLength + small.length < request.readableHighWaterMark
  }
}
