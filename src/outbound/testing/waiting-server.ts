/**
 * A thread with a server of TLS. It begins a handshake when the first of two steps is taken, and takes the second when the
 * client has closed the connection, as one does that has read a certificate it does not trust.
 */

import { createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'

const { steps, key, cert } = workerData
const server = createServer((socket) => {
  parentPort?.postMessage('connected')
  Atomics.wait(steps, 0, 0)
  const secure = new TLSSocket(socket, { isServer: true, key, cert: Buffer.from(cert) })
  secure.on('error', () => undefined)
  secure.once('close', () => {
    Atomics.store(steps, 1, 1)
    Atomics.notify(steps, 1)
  })
})
server.listen(0, '127.0.0.1', () => {
  const at = server.address()
  parentPort?.postMessage(typeof at === 'object' ? at?.port : undefined)
})
