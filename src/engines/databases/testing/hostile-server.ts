/** A server that begins to speak PostgreSQL and then answers as no server should. */

import { createServer, type Socket } from 'node:net'
import type { ServerAddress } from '../engine.ts'

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** One message of the protocol; its length may be given wrongly. */
export function message(kind: string, body: Buffer | string, length?: number): Buffer {
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(kind), number(length ?? bytes.length + 4), bytes])
}

const small = Buffer.from([0, 1])

/** One column of text. */
export const columns = message(
  'T',
  Buffer.concat([
    small,
    Buffer.from('name\0'),
    number(0),
    Buffer.from([0, 0]),
    number(25),
    Buffer.from([255, 255]),
    number(0xffffffff),
    Buffer.from([0, 0]),
  ]),
)
export const row = message('D', Buffer.concat([small, number(1), Buffer.from('x')]))
export const ready = message('Z', 'I')
export const accepted = Buffer.concat([message('R', number(0)), ready])

/** Writes the same for as long as the other side reads. */
export function flood(socket: Socket, bytes: Buffer): void {
  while (socket.writable) {
    if (!socket.write(bytes)) {
      socket.once('drain', () => flood(socket, bytes))
      return
    }
  }
}

interface HostileServer extends AsyncDisposable {
  readonly address: ServerAddress
  /** Connections whose other side still takes what it writes, as it finds out by writing more. */
  open(): number
}

interface Conduct {
  /** Instead of letting the client in. */
  readonly atStart?: (socket: Socket) => void
  /** What it does at the first query, and at no other. */
  readonly atQuery?: (socket: Socket) => void
}

export async function startHostileServer(conduct: Conduct): Promise<HostileServer> {
  const sockets = new Set<Socket>()
  const letIn = (socket: Socket): void => void socket.write(accepted)
  // It keeps its half of a connection open for as long as it can.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined)
    const refuseTls = (): void => {
      socket.write('N')
      socket.once('data', begin)
    }
    const begin = (): void => {
      ;(conduct.atStart ?? letIn)(socket)
      socket.once('data', () => conduct.atQuery?.(socket))
    }
    socket.once('data', (first) => (first.length === 8 ? refuseTls() : begin()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  const port = typeof at === 'object' && at !== null ? at.port : 0
  return {
    address: { host: '127.0.0.1', port, user: 'somebody', sslMode: 'prefer' },
    open() {
      for (const socket of sockets) socket.write(message('N', 'Mmore\0\0'))
      return sockets.size
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
