/**
 * A source that answers `pg_dump` with rows without end: the program keeps an answer whole, so its memory has a bound. A proxy in
 * front of a real server repeats one row, and breaks off when the program should be out of memory: until then that reads on.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { DatabaseEngineError } from '../engine.ts'
import { findServer, howToGetServers, startServer } from '../testing/servers.ts'
import { runProgram } from './client-programs.ts'
import { type ClientPrograms, findClientPrograms } from './find-client-programs.ts'

/** What is kept of it takes more than the limit; the program itself runs within half of that. */
const sentMax = 60 * 2 ** 20
const megabytesMax = 96

/** The first row of an answer to a statement about descriptions, again and again. `near` is the program. */
function repeatRow(near: Socket, far: Socket, sent: (bytes: number) => number): void {
  let isWanted = false
  let held = Buffer.alloc(0)
  near.on('data', (piece) => {
    isWanted ||= /FROM pg_catalog\.pg_description/i.test(piece.toString('latin1'))
    far.write(piece)
  })
  far.on('data', (piece) => {
    if (!isWanted) {
      near.write(piece)
      return
    }
    held = Buffer.concat([held, piece])
    // A description of the row, and the row.
    const row = held.length < 5 ? 5 : 1 + held.readUInt32BE(1)
    const end = held.length < row + 5 ? row + 5 : row + 1 + held.readUInt32BE(row + 1)
    if (held.length < end) return
    assert.equal(`${String.fromCharCode(held[0] ?? 0, held[row] ?? 0)}`, 'TD')
    far.removeAllListeners('data').pause()
    near.write(held.subarray(0, row))
    const rows = Buffer.alloc(2 ** 20, held.subarray(row, end))
    const whole = rows.subarray(0, rows.length - (rows.length % (end - row)))
    const go = (): void => {
      while (!near.destroyed && sent(whole.length) < sentMax) {
        if (near.write(whole)) continue
        near.once('drain', go)
        return
      }
      near.destroy()
    }
    go()
  })
}

test('rows without end for pg_dump meet its limit of memory', async (t) => {
  const programs = await findClientPrograms(undefined, megabytesMax)
  const there = findServer(15) !== undefined && programs !== undefined
  if (!requireOrSkip(t, there, howToGetServers) || programs === undefined) return
  await using server = await startServer(15)
  const open = new Set<Socket>()
  let sum = 0
  const proxy = createServer((near) => {
    const far = connect(server.address.port, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('error', () => undefined).on('close', () => other.destroy())
    }
    repeatRow(near, far, (bytes) => {
      sum += bytes
      return sum
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  // The address of a server that listens on a port has this shape.
  const { port } = proxy.address() as AddressInfo
  const dump = (through: number, by: ClientPrograms) =>
    runProgram({
      programs: by,
      name: 'pg_dump',
      args: ['--schema-only'],
      server: {
        address: { ...server.address, host: '127.0.0.1', port: through },
        password: server.password,
        outbound: openWay,
      },
      database: 'postgres',
      applicationName: 'test',
      rootCertificateFile: undefined,
      signal: AbortSignal.timeout(60_000),
    }).then(
      () => undefined,
      (error: unknown) => error,
    )
  try {
    assert.equal(await dump(server.address.port, programs), undefined, 'an honest source')
    const error = await dump(port, programs)
    assert.ok(error instanceof DatabaseEngineError, String(error))
    assert.equal(error.kind, 'refused')
    assert.match(error.message, /^pg_dump needs more than 96 MB of memory .*CLIENT_MEMORY/)
  } finally {
    for (const socket of open) socket.destroy()
    proxy.close()
    await once(proxy, 'close')
  }
})
