/** HTTP probes of programs that answer as they like: each ends, healthy or not. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  certificate,
  dheAlone,
  ecdheAlone,
  noCertificate,
  secureServer,
} from '#outbound/testing/secure-server.ts'
import { turnsOfAnswers } from '#outbound/testing/turns.ts'
import { localServer } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { probeByHttp } from './probe.ts'

const answers: readonly (readonly [what: string, bytes: string, reason: RegExp])[] = [
  ['another protocol', 'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', /protocol/],
  ['informational answers only', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000), /without end/],
  ['no HTTP', 'garbage\r\n\r\n', /failed/],
  ['an end', '', /failed/],
  ['silence', ' ', /failed/],
  ['a status', 'HTTP/1.1 503 No\r\n\r\n', /status 503/],
]

for (const [what, bytes, reason] of answers) {
  test(`a probe that is answered by ${what} ends`, async () => {
    await using server = await localServer((_, { socket }) => {
      if (bytes === '') socket?.destroy()
      else if (bytes !== ' ') socket?.write(bytes)
    })
    const probe = {
      kind: 'http',
      scheme: 'http',
      port: server.port,
      path: '/',
      headers: [],
    } as const
    const { healthy, message } = await probeByHttp('127.0.0.1', probe, 1)
    assert.equal(healthy, false)
    assert.match(String(message), reason)
  })
}

test('probes that are answered in one moment have turns of the loop', async () => {
  const one = (port: number) =>
    probeByHttp('127.0.0.1', { kind: 'http', scheme: 'http', port, path: '/', headers: [] }, 60)
  assert.equal(await turnsOfAnswers(20, one), 20)
})

test('a probe over https takes elliptic curves, no finite-field Diffie-Hellman, and few certificates', async (t) => {
  if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
  const outcome = async (options: typeof dheAlone): Promise<string> => {
    await using server = await secureServer(options)
    const { port } = server
    const probe = { kind: 'http', scheme: 'https', port, path: '/', headers: [] } as const
    const { healthy, message } = await probeByHttp('127.0.0.1', probe, 60)
    return `${healthy} ${message}`
  }
  assert.match(
    await outcome(dheAlone),
    /^false .*finite-field Diffie-Hellman \(DHE\) is not offered/,
  )
  assert.match(await outcome(ecdheAlone), /^true /)
  // Not in this loop, and no more than a thread can take.
  const cert = Buffer.concat(Array(60).fill(certificate?.cert))
  assert.match(await outcome({ cert }), /^false .*its TLS handshake is larger than 32768 bytes/)
})
