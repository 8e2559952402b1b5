/** Bodies that nobody reads, when the answer is sent. */

import type { IncomingMessage } from 'node:http'
import type { Limits } from '#kernel/limits.ts'
import { destroyAfter } from './connections.ts'
import { announcesBody } from './exchange.ts'

/**
 * Reads and drops an unread body, so that the connection stays usable and a client that is still sending sees the
 * answer. The connection is cut after more than any body may have, or after the time in which an answer must be read.
 * False: there is none.
 */
export function dropBody(
  request: IncomingMessage,
  { bodyBytesMax, businessBodyBytesMax, writeSeconds }: Limits,
): boolean {
  if (!announcesBody(request) || request.readableEnded) return false
  let left = bodyBytesMax + businessBodyBytesMax
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
    // A chunk in a turn of the loop: the runtime would take two megabytes of each fast sender.
    request.pause()
    setImmediate(() => request.resume())
  })
  destroyAfter(request, writeSeconds * 1000)
  // How the body ends does not matter any more.
  request.on('error', () => {})
  request.resume()
  return true
}
