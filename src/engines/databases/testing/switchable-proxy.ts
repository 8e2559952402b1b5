/** A way to a server that can be cut and mended, for tests of what happens while it is away. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

interface SwitchableProxy extends AsyncDisposable {
  readonly port: number
  /** Ends all connections; new ones are refused at once. */
  cut(): void
  mend(): void
  /** Hands nothing on, as a network or a machine that stands still; new connections wait too. */
  freeze(): void
  thaw(): void
}

export async function startProxy(to: number): Promise<SwitchableProxy> {
  const open = new Set<Socket>()
  let away = false
  let isFrozen = false
  const ways = new Map<Socket, Socket>()
  const server = createServer((near) => {
    if (away) {
      near.destroy()
      return
    }
    const far = connect(to, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('error', () => undefined)
      one.on('close', () => {
        open.delete(one)
        ways.delete(one)
        other.destroy()
      })
      ways.set(one, other)
      if (!isFrozen) one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address !== 'object') throw new Error('the system gave no port')
  const cut = (): void => {
    away = true
    for (const socket of open) socket.destroy()
  }
  return {
    port: address.port,
    cut,
    mend: () => {
      away = false
    },
    freeze: () => {
      isFrozen = true
      for (const [one, other] of ways) one.unpipe(other).pause()
    },
    thaw: () => {
      isFrozen = false
      for (const [one, other] of ways) one.pipe(other)
    },
    [Symbol.asyncDispose]: async () => {
      cut()
      server.close()
    },
  }
}
