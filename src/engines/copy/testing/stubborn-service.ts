/** A proxy of a blob service that forwards everything except requests to copy, which it does not support. */

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BlobServer } from './azurite.ts'

interface StubbornService extends BlobServer {
  /** The number of copy requests. */
  asked(): number
}

export async function stubbornService(behind: BlobServer): Promise<StubbornService> {
  const { port, pathname } = new URL(behind.endpoint)
  let asked = 0
  const server = createServer((incoming, answer) => {
    if (incoming.headers['x-ms-copy-source'] !== undefined) {
      asked++
      incoming.resume()
      answer.writeHead(501, { 'x-ms-error-code': 'NotImplemented' }).end()
      return
    }
    const { method, url, headers } = incoming
    const onward = request({ host: '127.0.0.1', port, path: url, method, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 500, found.headers)
      found.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  // It listens on a port, so its address is one.
  const { port: own } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${own}${pathname}`,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
