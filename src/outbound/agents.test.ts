/** The agents of clients that open their own connections: handshakes have the bounds of all others. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:https'
import { test } from 'node:test'
import { requireOrSkip } from '../../tests/require.ts'
import { agentOf } from './agents.ts'
import { certificate, ecdheAlone, noCertificate, secureServer } from './testing/secure-server.ts'
import { openWay } from './testing/ways.ts'

async function outcome(port: number): Promise<string> {
  const call = request({
    host: '127.0.0.1',
    port,
    agent: agentOf(openWay, true),
    ca: certificate?.cert,
    checkServerIdentity: () => undefined,
  })
  const answered = once(call, 'response').then(
    async ([answer]) => {
      const bytes: Buffer[] = []
      for await (const chunk of answer) bytes.push(chunk)
      return `${answer.statusCode} ${Buffer.concat(bytes).length}`
    },
    (error: Error) => error.message,
  )
  call.end()
  return answered
}

test('a server that sends many certificates is refused before they are looked at', async (t) => {
  if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
  const cert = Buffer.concat(Array(60).fill(certificate?.cert))
  await using many = await secureServer({ ...ecdheAlone, cert })
  assert.match(await outcome(many.port), /its TLS handshake is larger than 32768 bytes/)
})

test('others answer, whole', async (t) => {
  if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
  await using server = await secureServer(ecdheAlone)
  for (const _time of [1, 2]) assert.equal(await outcome(server.port), '200 4')
})
