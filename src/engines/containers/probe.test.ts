/** HTTP probes of programs that answer as they like: each ends, healthy or not. */

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
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
import { until } from '../../../tests/until.ts'
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

/** Other systems have one address of loopback; older versions of Node do not measure what a turn takes. */
const isMeasured = process.platform === 'linux' && 'threadCpuUsage' in process

test('probes of one address take turns as one, whatever hosts they name', {
  skip: !isMeasured,
}, async (t) => {
  if (!requireOrSkip(t, certificate !== undefined, noCertificate)) return
  const held: ServerResponse[] = []
  const server = createServer({ ...certificate }, (_request, response) => {
    held.push(response)
    if (held.length <= 20) return
    // What is answered comes in this order, and all of it before the next turn.
    for (const each of held) {
      each.end('{}')
      if (held.indexOf(each) >= 19)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  // The address of a server that listens on a port has this shape.
  const { port } = server.address() as AddressInfo
  const order: string[] = []
  const probed = async (address: string, host: string): Promise<void> => {
    const headers = [{ name: 'Host', value: host }]
    const probe = { kind: 'http', scheme: 'https', port, path: '/', headers } as const
    await probeByHttp(address, probe, 60)
    order.push(address)
  }
  const many = Array.from({ length: 20 }, (_, at) => probed('127.0.0.1', `host-${at}.example`))
  await until(() => held.length === 20)
  await Promise.all([...many, probed('127.0.0.2', 'other.example')])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  assert.ok(order.indexOf('127.0.0.2') < 10, order.join())
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
