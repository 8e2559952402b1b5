/** Which servers are contacted, and that nothing is revealed about an address. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { closedPort, localServer, type WatchedWay, watchedWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { DatabaseEngineError } from '../engine.ts'
import { findServer, howToGetServers, startServer } from '../testing/servers.ts'
import { runProgram } from './client-programs.ts'
import { findClientPrograms } from './find-client-programs.ts'
import { createPostgresEngine } from './postgres-engine.ts'

async function refusal(way: WatchedWay, host: string, port: number): Promise<DatabaseEngineError> {
  const folder = '/nonexistent'
  await using engine = createPostgresEngine({
    clock: { now: () => 0 },
    outbound: way.outbound,
    folder,
  })
  const address = { host, port, user: 'u', sslMode: 'prefer' } as const
  const error = await engine.inspect({ address, password: 'secret' }).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof DatabaseEngineError, String(error))
  return error
}

test('closed, foreign and absent look the same; the operator sees which', async () => {
  await using web = await localServer((_, response) => response.end('secret'))
  const greeting = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end('SSH-2.0-inner\r\n')
  })
  await new Promise<void>((resolve) => greeting.listen(0, '127.0.0.1', resolve))
  const at = greeting.address()
  const way = watchedWay({ mode: 'open' })
  const told = new Set<string>()
  for (const [host, port] of [
    ['127.0.0.1', web.port],
    ['127.0.0.1', await closedPort()],
    ['127.0.0.1', typeof at === 'object' && at !== null ? at.port : 0],
    ['absent.test', 5432],
  ] as const) {
    const { kind, number, message } = await refusal(way, host, port)
    told.add(`${kind} ${number} ${message.replace(`${host}:${port}`, 'SERVER')}`)
  }
  greeting.close()
  assert.deepEqual(
    [...told],
    [
      'unavailable 603000 The server SERVER is not reached: it gives no answer, or must not be asked from here.',
    ],
  )
  assert.match(way.told.join('\n'), /ECONNREFUSED/)
})

test('an inner server is not asked: by number, by a path, by a name', async (t) => {
  if (!requireOrSkip(t, findServer(15) !== undefined, howToGetServers)) return
  await using server = await startServer(15)
  const { port } = server.address
  const way = watchedWay({}, { 'inside.test': [['127.0.0.1']] })
  for (const host of ['127.0.0.1', '2130706433', '::ffff:127.0.0.1', 'localhost', '/tmp']) {
    const { kind, message } = await refusal(way, host, port)
    assert.equal(kind, 'refused', host)
    assert.match(message, /its address must not be asked from here/)
  }
  const { kind, message } = await refusal(way, 'inside.test', port)
  assert.equal(kind, 'unavailable')
  assert.doesNotMatch(message, /password|127/)
})

test('client programs are judged too, and do not tell what the network says', async (t) => {
  const programs = await findClientPrograms()
  const there = findServer(15) !== undefined && programs !== undefined
  if (!requireOrSkip(t, there, howToGetServers) || programs === undefined) return
  const dump = ({ outbound }: WatchedWay, port: number, password = 'wrong') =>
    runProgram({
      programs,
      name: 'pg_dump',
      args: [],
      server: {
        address: { host: '127.0.0.1', port, user: 'postgres', sslMode: 'prefer' },
        password,
        outbound,
      },
      database: 'postgres',
      applicationName: 'test',
      rootCertificateFile: undefined,
      signal: AbortSignal.timeout(60_000),
    }).then(
      () => 'done',
      (error: unknown) => String(error),
    )
  await using web = await localServer((_, response) => response.end('secret'))
  await using server = await startServer(15)
  const open = watchedWay({ mode: 'open' })
  const words = await dump(open, web.port)
  assert.match(words, /pg_dump: .*no connection to its server/)
  assert.equal(await dump(open, await closedPort()), words)
  assert.match(await dump(open, server.address.port), /FATAL: {2}password authentication failed/)
  assert.match(await dump(watchedWay({}), server.address.port), /must not be asked from here/)
})
