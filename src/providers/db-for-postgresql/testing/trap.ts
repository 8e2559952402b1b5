/** A server that an attacker points a registered server to. */

import { createServer } from 'node:net'

/** Accepts connections as a PostgreSQL server without TLS, asks for the password in clear text, and keeps it. */
export async function openTrap(): Promise<
  AsyncDisposable & { readonly port: number; told(): string }
> {
  let told = ''
  const server = createServer((socket) => {
    let hasBegun = false
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes) => {
      if (!hasBegun && bytes.length === 8) {
        socket.write('N')
      } else if (!hasBegun) {
        hasBegun = true
        socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
      } else {
        told += bytes.toString('latin1')
        socket.destroy()
      }
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    told: () => told,
    [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())),
  }
}
