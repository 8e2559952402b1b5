/** A way to a server that can be cut and mended, for tests of what happens while it is away. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

interface SwitchableProxy extends AsyncDisposable {
  readonly port: number
  /** Ends all connections; new ones are refused at once. */
  cut(): void
  mend(): void
}

export async function startProxy(to: number): Promise<SwitchableProxy> {
  const open = new Set<Socket>()
  let away = false
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
        other.destroy()
      })
      one.pipe(other)
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
    [Symbol.asyncDispose]: async () => {
      cut()
      server.close()
    },
  }
}
