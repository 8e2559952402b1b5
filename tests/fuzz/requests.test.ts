/**
 * A short run of the request fuzzer. `ARMATURE_TEST_FUZZ_SEED` repeats a run, `ARMATURE_TEST_FUZZ_COUNT` makes it
 * longer.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startEdge } from '#http/testing/start.ts'
import { subscription } from '#plane/testing/start.ts'
import { familiesOf, fuzzRequests } from './requests.ts'

const seed = Number(process.env['ARMATURE_TEST_FUZZ_SEED'] ?? Date.now() % 1_000_000)
const count = Number(process.env['ARMATURE_TEST_FUZZ_COUNT'] ?? 1500)

test(`broken requests are refused, never a fault (seed ${seed})`, {
  timeout: 600_000,
}, async (t) => {
  await using edge = await startEdge()
  const report = await fuzzRequests({
    url: edge.url,
    token: 'owner',
    subscriptionId: subscription,
    routes: edge.plane.plane.describe(),
    seed,
    count,
    secondsMax: 120,
  })
  t.diagnostic(`seed ${seed}: ${report.sent} requests, ${JSON.stringify(report.statuses)}`)
  const faults = edge.logged.filter(({ level }) => level === 'error')
  assert.deepEqual(report.findings, [])
  assert.deepEqual(faults, [])
  // A fuzzer whose requests are all refused at once finds nothing.
  for (const status of ['200', '201', '400', '401', '404', '405']) {
    assert.ok(count < 1000 || (report.statuses[status] ?? 0) > 0, `no answer was ${status}`)
  }
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

test('a server that is wrong is found out', { timeout: 360_000 }, async (t) => {
  await using edge = await startEdge()
  const wrong: Readonly<Record<string, (response: ServerResponse) => void>> = {
    ' 500 ': (response) => response.writeHead(500).end(),
    'of type text/html': (response) =>
      response.writeHead(404, { 'Content-Type': 'text/html' }).end('<p>no</p>'),
    'wrong family': (response) =>
      response
        .writeHead(404, { 'Content-Type': 'application/json; charset=utf-8' })
        .end('{"statusCode":404,"error":"Not Found","message":"m"}'),
    'wrong family, not': (response) =>
      response
        .writeHead(404, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': 4 })
        .end('null'),
    'no answer': (response) => response.destroy(),
  }
  for (const [says, answer] of Object.entries(wrong)) {
    const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    // A server that listens on a host has an address of its own.
    const { port } = server.address() as AddressInfo
    const { findings } = await fuzzRequests({
      url: `http://127.0.0.1:${port}`,
      token: 'owner',
      subscriptionId: subscription,
      routes: edge.plane.plane.describe(),
      seed,
      count: 60,
      secondsMax: 20,
      metricsUrl: edge.url,
    })
    assert.ok(
      findings.some((finding) => finding.includes(says)),
      `${says}: ${findings.join('\n')}`,
    )
  }
})

test('the judge knows the families apart', () => {
  const fault = { code: 'NotFound', message: 'm' }
  assert.deepEqual(familiesOf(JSON.stringify({ error: fault })), ['resource-manager', 'data-share'])
  assert.deepEqual(familiesOf(JSON.stringify({ error: { ...fault, additionalInfo: [] } })), [
    'resource-manager',
  ])
  assert.deepEqual(familiesOf(JSON.stringify({ ...fault, details: 'd' })), ['health'])
  for (const wrong of [
    {},
    { error: {} },
    { error: { code: 'x', message: 'm' } },
    { ...fault, details: [] },
    { statusCode: 404, error: 'Not Found', message: 'm' },
  ]) {
    assert.deepEqual(familiesOf(JSON.stringify(wrong)), [], JSON.stringify(wrong))
  }
})
