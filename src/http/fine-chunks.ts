/**
 * Cuts the connection of a body that comes in very many tiny chunks. Each chunk is a buffer of its own until somebody has
 * read it, and takes some hundred times as much memory as its bytes: counted here, it does not matter who reads.
 */

import type { IncomingMessage } from 'node:http'
import { isTooFine } from '#kernel/received-bytes.ts'

export function cutFineChunks(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined) return
  let chunks = 0
  let bytes = 0
  const push = request.push.bind(request)
  request.push = (chunk, encoding) => {
    chunks++
    bytes += chunk?.length ?? 0
    if (!isTooFine(chunks, bytes)) return push(chunk, encoding)
    request.socket.destroy()
    return false
  }
}
