/** `/metrics` on an address of its own, for a collector in a network that clients do not reach. Serves nothing else. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.ts'

interface MetricsListener extends AsyncDisposable {
  readonly port: number
}

const requestMilliseconds = 10_000
const connectionsMax = 20

export async function listenForMetrics(
  where: { readonly host: string; readonly port: number },
  scrape: Metrics['scrape'],
): Promise<MetricsListener> {
  const server = createServer({ requestTimeout: requestMilliseconds }, (request, response) => {
    const known = (request.url ?? '').split('?', 1)[0] === '/metrics'
    if (!known || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(known ? 405 : 404, { 'Content-Length': '0', Connection: 'close' }).end()
      return
    }
    scrape().then(
      ({ type, text }) => response.writeHead(200, { 'Content-Type': type }).end(text),
      // The registry failed to print; the next request may succeed.
      () => response.writeHead(500, { 'Content-Length': '0' }).end(),
    )
  })
  server.maxConnections = connectionsMax
  server.timeout = requestMilliseconds
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, resolve)
  })
  return {
    // It listens on a TCP port.
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
