/** What a source says of its settings goes into the records of a migration, for each of its databases: it is short. */

import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import type { MigrationSpec } from '../engine.ts'
import { accepted, message, ready } from '../testing/hostile-server.ts'
import { createPostgresEngine } from './postgres-engine.ts'

const text = 25
const names = ['name', 'value', 'pending', 'file']

function described(): Buffer {
  const columns = names.map((name) => {
    const rest = Buffer.alloc(18)
    rest.writeUInt32BE(text, 6)
    return Buffer.concat([Buffer.from(`${name}\0`), rest])
  })
  return message('T', Buffer.concat([Buffer.from([0, names.length]), ...columns]))
}

function rowOf(values: readonly string[]): Buffer {
  const cells = values.map((value) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(value.length)
    return Buffer.concat([length, Buffer.from(value)])
  })
  return message('D', Buffer.concat([Buffer.from([0, values.length]), ...cells]))
}

/** Answers every query with the same rows. */
async function startServer(rows: readonly Buffer[]) {
  const answer = Buffer.concat([described(), ...rows, message('C', 'SELECT 1\0'), ready])
  const prepared = Buffer.concat([message('1', ''), message('2', ''), answer])
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    let held = Buffer.alloc(0)
    let isBegun = false
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk])
      for (;;) {
        const at = isBegun ? 1 : 0
        if (held.length < at + 4 || held.length < at + held.readUInt32BE(at)) return
        const kind = held.toString('latin1', 0, at)
        const length = at + held.readUInt32BE(at)
        held = held.subarray(length)
        if (kind === 'Q') socket.write(answer)
        if (kind === 'S') socket.write(prepared)
        if (isBegun) continue
        // The question for TLS has no parameters.
        isBegun = length > 8
        socket.write(isBegun ? accepted : 'N')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = server.address()
  const port = typeof at === 'object' && at !== null ? at.port : 0
  return {
    address: { host: '127.0.0.1', port, user: 'somebody', sslMode: 'prefer' as const },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('settings of megabytes, and settings that nobody wanted, are no part of a survey', async () => {
  const large = 'x'.repeat(2 ** 20)
  const rows = [...['wal_level', 'wal_level', large, '__proto__'].map((name) => [name, large])]
  await using server = await startServer(rows.map((row) => rowOf([...row, 'f', ''])))
  await using engine = createPostgresEngine({
    clock: { now: () => Date.now() },
    outbound: openWay,
    folder: '/nonexistent',
  })
  const { address } = server
  const spec: MigrationSpec = {
    mode: 'online',
    source: address,
    target: address,
    databases: ['wal_level'],
    overwrite: false,
    roles: false,
    setUpReplication: false,
    fence: 'none',
    verify: 'none',
    analyze: false,
    tablesAtOnce: 1,
    databasesAtOnce: 1,
  }
  const survey = await engine.survey('a', spec, { sourcePassword: 'a', targetPassword: 'b' })
  assert.deepEqual(survey.targetDatabases, [{ name: 'wal_level', made: false }])
  assert.deepEqual(survey.replication, {
    kind: 'consent-needed',
    reasons: [`603107: wal_level is ${'x'.repeat(100)} and must be logical`],
  })
  assert.ok(JSON.stringify(survey).length < 1000)
})
