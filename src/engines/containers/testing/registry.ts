/**
 * A registry of images for tests, on loopback, with one image behind a password. It speaks the part of the
 * distribution protocol that a pull needs, and counts requests without the password.
 */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { writeTar } from '../docker/tar.ts'

interface TestRegistry extends AsyncDisposable {
  /** `127.0.0.1:port`. */
  readonly server: string
  readonly image: string
  /** The number of requests refused for a missing password. */
  refused(): number
}

export async function startRegistry(user: string, password: string): Promise<TestRegistry> {
  const layer = writeTar([
    { name: 'bin/', mode: 0o755 },
    { name: 'bin/busybox', mode: 0o755, bytes: await readFile('/bin/busybox') },
    { name: 'bin/sh', mode: 0o755, bytes: await readFile('/bin/busybox') },
  ])
  const blobs = new Map<string, Uint8Array>()
  const keep = (bytes: Uint8Array) => {
    const digest = digestOf(bytes)
    blobs.set(digest, bytes)
    return { digest, size: bytes.length }
  }
  const packed = keep(gzipSync(layer))
  const config = keep(
    json({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Env: ['PATH=/bin'], Cmd: ['/bin/sh'] },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  )
  const kind = 'application/vnd.docker'
  const manifestType = `${kind}.distribution.manifest.v2+json`
  const manifest = json({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: `${kind}.container.image.v1+json`, ...config },
    layers: [{ mediaType: `${kind}.image.rootfs.diff.tar.gzip`, ...packed }],
  })
  let refused = 0
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const server = createServer((request, response) => {
    if (request.headers.authorization !== expected) {
      refused += 1
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
      return
    }
    const [, what = '', name = ''] = /\/(manifests|blobs)\/([^/]+)$/.exec(request.url ?? '') ?? []
    const bytes = what === 'manifests' ? manifest : blobs.get(name)
    if (request.url === '/v2/') response.writeHead(200).end('{}')
    else if (bytes === undefined) response.writeHead(404).end('{}')
    else {
      response.writeHead(200, {
        'content-type': what === 'manifests' ? manifestType : 'application/octet-stream',
        'content-length': bytes.length,
        'docker-content-digest': digestOf(bytes),
      })
      response.end(request.method === 'HEAD' ? undefined : bytes)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on an address and a port has both.
  const { port } = server.address() as AddressInfo
  return {
    server: `127.0.0.1:${port}`,
    image: `127.0.0.1:${port}/private/busybox:1`,
    refused: () => refused,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function json(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}
