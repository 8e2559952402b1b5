/**
 * The thread of TLS: it connects where it is sent to, makes the handshake, and passes on what comes. It decides nothing and keeps
 * nothing. A handshake cannot be interrupted, so what a server may send for one has a bound.
 */

import { connect, isIP } from 'node:net'
import * as tls from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'
import { BoundedHandshake, restAfterSteps } from '../bounded-handshake.ts'
import { lookupOf } from '../outbound.ts'
import { tlsOutward } from '../tls.ts'
import { type FromThread, ownBytes, type SecureTarget, type ToThread } from './messages.ts'

const open = new Map<number, tls.TLSSocket>()

function say(message: FromThread): void {
  if (message.kind === 'bytes') parentPort?.postMessage(message, [message.bytes.buffer])
  else parentPort?.postMessage(message)
}

function fail(id: number, error: NodeJS.ErrnoException): void {
  say({ kind: 'failed', id, message: error.message, code: error.code })
}

function begin(id: number, target: SecureTarget): void {
  const { host, port, addresses, name, isChecked, owner } = target
  const stream = new BoundedHandshake(connect({ host, port, lookup: lookupOf(addresses) }), {
    owner,
    onSlow: (address) => say({ kind: 'slow', id, address }),
  })
  const socket = tls.connect({
    socket: stream,
    ...tlsOutward,
    ALPNProtocols: ['http/1.1'],
    host: name,
    servername: isIP(name) === 0 ? name : '',
    rejectUnauthorized: isChecked,
  })
  open.set(id, socket)
  stream.on('error', (error) => socket.destroy(error))
  socket.once('secureConnect', () => stream.endHandshake(() => socket.bytesRead))
  socket.on('data', (chunk: Buffer) => {
    // Until more is taken.
    socket.pause()
    say({ kind: 'bytes', id, bytes: ownBytes(chunk) })
  })
  socket.pause()
  socket.once('end', () => say({ kind: 'end', id }))
  socket.on('error', (error) => fail(id, error))
  socket.once('close', () => {
    open.delete(id)
    say({ kind: 'closed', id })
  })
}

/** By the version of Node, the one that this thread started with knows fewer than its process. */
function trust(authorities: readonly string[]): void {
  tls.setDefaultCACertificates?.(authorities)
}

restAfterSteps(workerData)
parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'trust') return trust(message.authorities)
  const { id } = message
  const socket = open.get(id)
  switch (message.kind) {
    case 'open':
      try {
        begin(id, message.target)
      } catch (error) {
        // What the platform takes for no host or port. It must not end the connections of others.
        fail(id, error instanceof Error ? error : new Error(String(error)))
      }
      return
    case 'read':
      socket?.resume()
      return
    case 'write':
      socket?.write(message.bytes, () => say({ kind: 'written', id }))
      return
    case 'end':
      socket?.end()
      return
    case 'close':
      socket?.destroy()
      return
  }
})
