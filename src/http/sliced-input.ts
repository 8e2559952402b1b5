/**
 * What comes on a connection of http reaches the parser in slices, some milliseconds of them in a turn of the loop, and addresses
 * take turns, as below https: the parser hands over each chunk of a body by itself, and one piece of a socket may hold ten thousand.
 * While slices wait, nothing more is read.
 */

import type { Socket } from 'node:net'
import { addressGroupOf } from './client-address.ts'
import { inTurn, sliceBytes } from './encrypted-input.ts'

/** For connections that the server of http has taken. */
export function sliceInput(socket: Socket): Socket {
  // Its input is sliced below the encryption.
  if ('encrypted' in socket) return socket
  const address = addressGroupOf(socket.remoteAddress ?? '')
  const push = socket.push.bind(socket)
  const read = socket._read.bind(socket)
  let left: Buffer | undefined
  /** False where some of it has yet to be taken, or the socket wants no more. */
  function take(chunk: Buffer): boolean {
    let takesMore = false
    left = chunk
    inTurn(address, () => {
      if (socket.destroyed) return
      const rest = chunk.subarray(sliceBytes)
      left = rest.length > 0 ? rest : undefined
      takesMore = push(chunk.subarray(0, sliceBytes))
      if (rest.length > 0) takesMore = take(rest)
    })
    return takesMore
  }
  socket.push = (chunk: Buffer | null) => (chunk === null ? push(chunk) : take(chunk))
  socket._read = (size) => {
    if (left === undefined) read(size)
  }
  // The server reads below a socket that nobody listens to.
  return socket.on('data', () => {})
}
