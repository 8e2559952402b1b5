/** Real handshakes with servers that offer what costs their clients much, and with those that do not. */

import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request, type ServerOptions } from 'node:https'
import { describe, test } from 'node:test'
import * as tls from 'node:tls'
import { Worker } from 'node:worker_threads'
import { requireOrSkip } from '../../tests/require.ts'
import { createAuthority, issueCertificate } from '../tls/certificate.ts'
import { agentOf } from './agents.ts'
import { answerOf, textOf } from './request.ts'
import {
  certificate,
  dheAlone,
  ecdheAlone,
  longChain,
  noCertificate,
  secureServer,
  ticketServer,
} from './testing/secure-server.ts'
import { watchedWay } from './testing/ways.ts'
import { tlsOutward } from './tls.ts'
import { SecureConnections } from './tls-thread/secure-connection.ts'

const finiteGroup: ServerOptions = { minVersion: 'TLSv1.3', ecdhCurve: 'ffdhe3072' }

/** What the operator reads of a call that failed. */
async function logged(port: number): Promise<string> {
  const way = watchedWay({ mode: 'open' })
  const url = new URL(`https://127.0.0.1:${port}/`)
  await assert.rejects(answerOf(way.outbound, { url, signal: AbortSignal.timeout(60_000) }))
  return way.told.join()
}

describe('TLS that goes out', () => {
  test('a server with finite-field Diffie-Hellman alone is not connected to, and that is said', async (t) => {
    if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
    for (const options of [dheAlone, finiteGroup]) {
      await using server = await secureServer(options)
      assert.match(await logged(server.port), /finite-field Diffie-Hellman \(DHE\) is not offered/)
      assert.equal(server.handshakes(), 0)
    }
  })

  test('one with elliptic curves is: the handshake ends, and its certificate is checked', async (t) => {
    if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
    for (const options of [ecdheAlone, {}]) {
      await using server = await secureServer(options)
      assert.match(await logged(server.port), /self-signed certificate/)
    }
  })

  test('a server that sends on what is no data after its handshake is left', async (t) => {
    if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
    await using server = await ticketServer(1000)
    const at = { host: '127.0.0.1', addresses: ['127.0.0.1'], name: 'a', isChecked: false }
    const connection = new SecureConnections().open({ ...at, port: server.port })
    connection.resume()
    const [error] = await once(connection, 'error')
    assert.match(String(error), /it sends much beside data/)
  })

  test('a server that sends many certificates is refused before they are looked at', async (t) => {
    if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
    const cert = certificate?.cert
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const sent = (times: number) => ({ maxVersion, cert: Buffer.concat(Array(times).fill(cert)) })
      await using many = await secureServer(sent(60))
      assert.match(await logged(many.port), /its TLS handshake is larger than 32768 bytes/)
      // As large as four certificates with signatures that withstand quantum computers.
      await using usual = await secureServer(sent(28))
      assert.match(await logged(usual.port), /self-signed certificate/)
    }
  })

  test('a handshake goes on while this loop stands still', async (t) => {
    if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
    const steps = new Int32Array(new SharedArrayBuffer(8))
    const file = new URL('./testing/waiting-server.ts', import.meta.url)
    const server = new Worker(file, { workerData: { steps, ...certificate } })
    const [port] = await once(server, 'message')
    const connected = once(server, 'message')
    const called = logged(port)
    await connected
    Atomics.store(steps, 0, 1)
    Atomics.notify(steps, 0)
    const outcome = Atomics.wait(steps, 1, 0, 60_000)
    await server.terminate()
    await called
    assert.notEqual(outcome, 'timed-out')
  })

  test('authorities that are trusted meanwhile count, names are checked, and long texts come and go whole', async (t) => {
    const request = { names: ['here.test'], now: Date.now(), days: 1 }
    const authority = createAuthority('a test’s authority', request)
    const signer = createPrivateKey(authority.key)
    const { certificate: cert, key } = issueCertificate(authority, signer, request)
    await using server = await secureServer({ cert, key })
    const names = { 'here.test': [['127.0.0.1']], 'other.test': [['127.0.0.1']] }
    const { outbound, told } = watchedWay({ mode: 'open' }, names)
    const body = 'long '.repeat(1_000_000)
    const answered = async (host: string): Promise<string> => {
      const url = new URL(`https://${host}:${server.port}/`)
      const signal = AbortSignal.timeout(60_000)
      return textOf(await answerOf(outbound, { url, body, signal }), body.length)
    }
    await assert.rejects(answered('here.test'))
    const before = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...before, authority.certificate])
    t.after(() => tls.setDefaultCACertificates(before))
    assert.equal(await answered('here.test'), body)
    await assert.rejects(answered('other.test'))
    assert.match(told[0] ?? '', /unable to verify/)
    assert.match(told[1] ?? '', /does not match certificate/)
    assert.equal(told.length, 2)
  })

  test('an address whose handshakes take long has a thread to itself from then on', async (t) => {
    if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
    await using quick = await secureServer({})
    await using slow = await secureServer(longChain(45))
    const connections = new SecureConnections()
    let threads = 0
    const count = (): unknown => threads++
    process.on('worker', count)
    t.after(() => process.off('worker', count))
    const connect = async (host: string, port: number): Promise<number> => {
      const target = { host, port, addresses: [host], name: host, isChecked: true }
      await once(connections.open(target), 'close').catch(() => undefined)
      return threads
    }
    assert.equal(await connect('127.0.0.1', quick.port), 1)
    assert.equal(await connect('127.0.0.1', quick.port), 1)
    assert.equal(await connect('127.0.0.1', slow.port), 1)
    assert.equal(await connect('127.0.0.1', slow.port), 2)
    assert.equal(await connect('127.0.0.1', slow.port), 2)
  })

  test('clients that open connections by themselves do the same', async (t) => {
    if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
    const outcome = async (options: ServerOptions): Promise<string> => {
      await using server = await secureServer(options)
      const { outbound } = watchedWay({ mode: 'open' })
      const agent = agentOf(outbound, true)
      try {
        const url = `https://127.0.0.1:${server.port}/`
        const answer = await new Promise<IncomingMessage>((resolve, reject) => {
          request(url, { agent, rejectUnauthorized: false }, resolve).once('error', reject).end()
        })
        answer.resume()
        return `${answer.statusCode}`
      } catch (error) {
        return String(error)
      } finally {
        agent.destroy()
      }
    }
    assert.match(await outcome(dheAlone), /handshake failure/)
    assert.equal(await outcome(ecdheAlone), '200')
  })

  test('a server gets no new handshake on an open connection', async (t) => {
    if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
    const renegotiated = Promise.withResolvers<Error | null>()
    await using server = await secureServer(ecdheAlone, (socket) => {
      socket.once('error', (error) => renegotiated.resolve(error))
      socket.renegotiate({}, (error) => renegotiated.resolve(error))
    })
    const options = { host: '127.0.0.1', port: server.port, rejectUnauthorized: false }
    const socket = tls.connect({ ...options, ...tlsOutward })
    socket.on('error', () => undefined)
    socket.resume()
    assert.match(String(await renegotiated.promise), /renegotiation/)
    socket.destroy()
  })
})
