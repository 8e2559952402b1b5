/** Real handshakes with servers that offer what costs their clients much, and with those that do not. */

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { request, type ServerOptions } from 'node:https'
import { describe, test } from 'node:test'
import { connect } from 'node:tls'
import { requireOrSkip } from '../../tests/require.ts'
import { agentOf } from './agents.ts'
import { answerOf } from './request.ts'
import {
  certificate,
  dheAlone,
  ecdheAlone,
  noCertificate,
  secureServer,
} from './testing/secure-server.ts'
import { watchedWay } from './testing/ways.ts'
import { tlsOutward } from './tls.ts'

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
    const socket = connect({ ...options, ...tlsOutward })
    socket.on('error', () => undefined)
    socket.resume()
    assert.match(String(await renegotiated.promise), /renegotiation/)
    socket.destroy()
  })
})
