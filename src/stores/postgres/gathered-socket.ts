/**
 * A socket that sends what is written in one turn of the loop together: the driver writes each statement by itself. With
 * TLS the driver writes past it, statement by statement as before.
 */

import { Socket } from 'node:net'

export function createGatheredSocket(): Socket {
  const socket = new Socket()
  const write = socket.write.bind(socket)
  let isGathering = false
  const gathered = (...written: Parameters<typeof write>): boolean => {
    if (!isGathering) {
      isGathering = true
      socket.cork()
      process.nextTick(() => {
        isGathering = false
        socket.uncork()
      })
    }
    return write(...written)
  }
  // With each of the forms in which the arguments may be left out. Connecting undoes what is set before.
  socket.once('connect', () => {
    socket.write = gathered as Socket['write']
  })
  return socket
}
