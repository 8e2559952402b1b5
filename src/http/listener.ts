/** The sockets of the server: their limits, the address it listens on, and what is said to bytes that are no request. */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import type { Limits } from '#kernel/limits.ts'
import { answerBrokenRequest } from './failure.ts'

/** Time for a request's head, and for an idle connection. */
const headersTimeoutMilliseconds = 15_000
const keepAliveMilliseconds = 72_000
const checkMilliseconds = 5_000

export function createListener(
  limits: Pick<Limits, 'requestSeconds' | 'headerBytesMax'>,
  upgrades: (request: IncomingMessage) => boolean,
): Server {
  const requestTimeout = Math.ceil(limits.requestSeconds * 1000)
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    // `node:http` refuses a longer time for the head than for the whole request.
    headersTimeout: Math.min(headersTimeoutMilliseconds, requestTimeout),
    requestTimeout,
    keepAliveTimeout: keepAliveMilliseconds,
    connectionsCheckingInterval: checkMilliseconds,
    // `correlate` asks for it, with an error body of the right family.
    requireHostHeader: false,
    optimizeEmptyRequests: true,
    shouldUpgradeCallback: upgrades,
  })
  server.on('clientError', answerBrokenRequest)
  // `read-body` tells the client to go on, once that is allowed; other expectations are refused.
  server.on('checkContinue', (request, response) => server.emit('request', request, response))
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}

/** Listens, and gives the address as a URL. Port 0 takes a free one. */
export async function listen(
  server: Server,
  where: { readonly host: string; readonly port: number },
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return `http://${hostOf(address.address)}:${address.port}`
}

/** The host of a URL. Nobody can call `0.0.0.0`, so that becomes an address of this machine. */
function hostOf(address: string): string {
  if (address.includes(':')) return `[${address}]`
  if (address !== '0.0.0.0') return address
  const own = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ family }) => family === 'IPv4')
  return (own.find(({ internal }) => internal) ?? own[0])?.address ?? '127.0.0.1'
}
