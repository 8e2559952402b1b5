/**
 * Requests that came before the answer to another one of their connection. A head of 30 KB is many small texts, and takes twice
 * as much of the heap, until its answer was read: nobody has to read any. All of them together have room; past it the
 * connection with most of them is ended, and in the same turn of the loop whoever sends more.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What a request takes without a header, and each name and each value beside its text. */
const requestBytes = 3 * 1024
const textBytes = 32

/** Called for each request that came ahead of its turn. */
type HeadsAhead = (request: IncomingMessage, response: ServerResponse) => void

export function createHeadsAhead(bytesMax: number): HeadsAhead {
  const held = new Map<Socket, number>()
  let sum = 0
  let ending = 0

  function add(socket: Socket, bytes: number): void {
    held.set(socket, (held.get(socket) ?? 0) + bytes)
    sum += bytes
  }

  function forget(socket: Socket): void {
    sum -= held.get(socket) ?? 0
    held.delete(socket)
  }

  function endLargest(): void {
    let most = -1
    let largest: Socket | undefined
    for (const [socket, bytes] of held) {
      if (bytes > most) [most, largest] = [bytes, socket]
    }
    if (largest === undefined) return
    forget(largest)
    end(largest, most)
  }

  /** What it sent is kept until the end of the turn of the loop. */
  function end(socket: Socket, bytes: number): void {
    ending += bytes
    socket.once('close', () => {
      ending -= bytes
    })
    socket.destroy()
  }

  return (request, response) => {
    const { socket } = request
    const bytes = bytesOf(request)
    // Else every connection that is read in this turn would be whole in memory before a later one ends it.
    if (ending > bytesMax) {
      end(socket, bytes)
      return
    }
    if (!held.has(socket)) socket.once('close', () => forget(socket))
    add(socket, bytes)
    response.once('close', () => {
      if (held.has(socket)) add(socket, -bytes)
    })
    while (sum > bytesMax) endLargest()
  }
}

function bytesOf({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + textBytes, requestBytes + url.length)
}
