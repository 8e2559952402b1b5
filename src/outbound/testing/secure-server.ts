/** Servers of TLS for tests: what they offer is the test's to say. Their certificate is signed by itself. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'

interface Certificate {
  readonly key: Buffer
  readonly cert: Buffer
}

export const noCertificate = 'openssl is not here'

/** Undefined where `openssl` is not here. */
export const certificate: Certificate | undefined = makeCertificate()

function makeCertificate(): Certificate | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'armature-certificate-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=a']
  try {
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key), cert: readFileSync(cert) }
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A certificate with `count` authorities above it, whose signatures take a client a few milliseconds each. */
export function longChain(count: number): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'armature-chain-'))
  const at = (name: string): string => join(folder, name)
  const run = (...args: readonly string[]): unknown =>
    execFileSync('openssl', args, { stdio: 'ignore' })
  const signed = ['req', '-new', '-x509', '-days', '2', '-key']
  const certificates: Buffer[] = []
  try {
    run('ecparam', '-name', 'sect571r1', '-genkey', '-noout', '-out', at('slow'))
    run('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', at('key'))
    run(...signed, at('slow'), '-subj', '/CN=0', '-out', at('0'))
    for (let number = 1; number <= count; number++) {
      const above = ['-CA', at(`${number - 1}`), '-CAkey', at('slow')]
      const key = at(number === count ? 'key' : 'slow')
      run(...signed, key, '-subj', `/CN=${number}`, ...above, '-out', at(`${number}`))
      certificates.unshift(readFileSync(at(`${number}`)))
    }
    return { key: readFileSync(at('key')), cert: Buffer.concat(certificates) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Finite-field Diffie-Hellman alone, whose numbers the server chooses. */
export const dheAlone: ServerOptions = {
  maxVersion: 'TLSv1.2',
  ciphers: 'DHE-RSA-AES128-GCM-SHA256',
  dhparam: 'auto',
}
export const ecdheAlone: ServerOptions = {
  maxVersion: 'TLSv1.2',
  ciphers: 'ECDHE-RSA-AES128-GCM-SHA256',
}

export async function secureServer(options: ServerOptions, onSecure?: (socket: TLSSocket) => void) {
  let handshakes = 0
  const server = createServer({ ...certificate, ...options }, (request, response) => {
    // A body is sent back.
    if (request.method === 'POST') request.pipe(response)
    else response.end('here')
  })
  server.on('secureConnection', (socket) => {
    handshakes++
    onSecure?.(socket)
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The address of a server that listens on a port has this shape.
  const { port } = server.address() as AddressInfo
  return {
    port,
    /** Those that came to their end. */
    handshakes: () => handshakes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A web server that gives each client so many tickets for later connections: some 250 bytes each, and no data. */
export async function ticketServer(tickets: number) {
  const folder = mkdtempSync(join(tmpdir(), 'armature-tickets-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  writeFileSync(key, certificate?.key ?? '')
  writeFileSync(cert, certificate?.cert ?? '')
  const words = ['s_server', '-accept', '127.0.0.1:0', '-key', key, '-cert', cert, '-www']
  const server = spawn('openssl', [...words, '-tls1_3', '-num_tickets', String(tickets)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  server.stdout.setEncoding('utf8')
  let said = ''
  while (!/ACCEPT \S*:(\d+)\n/.test(said)) said += String((await once(server.stdout, 'data'))[0])
  return {
    port: Number(/ACCEPT \S*:(\d+)\n/.exec(said)?.[1]),
    async [Symbol.asyncDispose]() {
      server.kill()
      await once(server, 'close')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
