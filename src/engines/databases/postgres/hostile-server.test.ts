/** A server that a user registered may answer anything: it ends nothing, blocks nothing, and fills no memory. */

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../../tests/require.ts'
import { until } from '../../../../tests/until.ts'
import { DatabaseEngineError, type ServerAddress } from '../engine.ts'
import {
  accepted,
  columns,
  flood,
  message,
  ready,
  row,
  startHostileServer,
} from '../testing/hostile-server.ts'
import { howToSeeProcesses, peakMegabytes, peerOf, seesProcesses } from '../testing/processes.ts'
import { connect } from './connect.ts'
import { LookRoom } from './guarded-connection.ts'
import { createPostgresEngine } from './postgres-engine.ts'

const engine = createPostgresEngine({
  clock: { now: () => Date.now() },
  outbound: openWay,
  folder: '/nonexistent',
})

type Conduct = Parameters<typeof startHostileServer>[0]

/** The error of a connection to such a server. */
async function refusalOf(conduct: Conduct): Promise<DatabaseEngineError> {
  await using server = await startHostileServer(conduct)
  const error = await engine.inspect({ address: server.address, password: 'secret' }).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof DatabaseEngineError, String(error))
  return error
}

test('messages that cannot be read end the connection and nothing else', async () => {
  const broken: Readonly<Record<string, Buffer>> = {
    'a row of more columns than it has': message('D', Buffer.from([0x7f, 0xff])),
    'a parameter without its name': message('S', ''),
    'a length below that of itself': message('D', Buffer.from([0, 1]), 1),
    'columns without an end': message('T', Buffer.from([0x7f, 0xff, 65])),
    'a way to sign in that there is none of': message('R', Buffer.from([0, 0, 0, 99])),
    'a notice that breaks off': message('N', 'M'),
    'an error that breaks off': message('E', 'SERROR\0'),
  }
  for (const [name, bytes] of Object.entries(broken)) {
    const answer = Buffer.concat([columns, bytes, message('C', 'SELECT 1\0'), ready])
    for (const conduct of [
      { atStart: (socket) => void socket.end(Buffer.concat([bytes, accepted])) },
      { atQuery: (socket) => void socket.end(answer) },
      // With the last message of the sign-in, when nobody waits for anything.
      { atStart: (socket) => void socket.end(Buffer.concat([accepted, bytes, bytes])) },
    ] satisfies readonly Conduct[]) {
      assert.ok((await refusalOf(conduct)).message.length < 1000, name)
    }
  }
})

test('nothing behind the end of a message is read', async () => {
  const words = message('E', 'SERROR\0CXX000\0Mit says')
  const value = message('D', Buffer.from([0, 1, 0, 0, 3, 0xe8, 0x31]))
  for (const bytes of [words, Buffer.concat([columns, value])]) {
    const { message: text } = await refusalOf({
      atQuery: (socket) => void socket.end(Buffer.concat([bytes, Buffer.from('of another')])),
    })
    assert.doesNotMatch(text, /of another/)
  }
})

test('answers without end are read no further than a look may', async (t) => {
  const rows = Buffer.concat(Array.from({ length: 1000 }, () => row))
  const looking = new Set<number | undefined>()
  for (const bytes of [rows, message('D', Buffer.alloc(2 ** 20), 2 ** 29)]) {
    const { message: text } = await refusalOf({
      atQuery(socket) {
        if (seesProcesses) looking.add(peerOf(socket))
        socket.write(columns)
        flood(socket, bytes)
      },
    })
    assert.match(text, /more than a look may read/)
  }
  if (!requireOrSkip(t, seesProcesses, howToSeeProcesses)) return
  const [pid = 0, ...others] = looking
  assert.deepEqual(others, [])
  assert.notEqual(pid, process.pid)
  const megabytes = peakMegabytes(pid)
  assert.ok(megabytes < 400, `${megabytes} MB`)
})

/** A description of so many columns, each named by a letter and its number. */
function described(count: number, letter = 'c'): Buffer {
  const size = Buffer.alloc(2)
  size.writeUInt16BE(count)
  const column = (at: number) => [Buffer.from(`${letter}${at}\0`), Buffer.alloc(18)]
  return message(
    'T',
    Buffer.concat([size, ...Array.from({ length: count }, (_, at) => column(at)).flat()]),
  )
}

test('rows are as wide as their description, and no description of a look is wide', async () => {
  const narrow = message('D', Buffer.from([0, 0]))
  const rows = Buffer.concat(Array.from({ length: 100 }, () => narrow))
  for (const columnCount of [32_767, 1_664, 65, 64, 1]) {
    const { message: text } = await refusalOf({
      atQuery: (socket) => void socket.write(Buffer.concat([described(columnCount), rows])),
    })
    assert.match(text, /cannot be read/, `${columnCount} columns`)
  }
})

test('no column of a look is named by a number: its rows would be arrays with gaps', async () => {
  const empty = message('D', Buffer.from([0, 1, 0xff, 0xff, 0xff, 0xff]))
  const outcome = async (letter: string): Promise<string> => {
    const answer = [described(1, letter), empty, message('C', 'SELECT 1\0'), ready]
    const conduct = { atQuery: (socket: Socket) => void socket.end(Buffer.concat(answer)) }
    return (await refusalOf(conduct)).message
  }
  assert.match(await outcome('6000000'), /cannot be read/)
  assert.doesNotMatch(await outcome('c'), /cannot be read/)
})

test('no value takes longer than it is long, whatever type the server gives it', async () => {
  const typed = (type: number, format: number): Buffer => {
    const numbers = Buffer.alloc(18)
    numbers.writeUInt32BE(type, 6)
    numbers.writeUInt16BE(format, 16)
    return message('T', Buffer.concat([Buffer.from([0, 1]), Buffer.from('x\0'), numbers]))
  }
  const cell = (value: Buffer): Buffer => {
    const size = Buffer.alloc(6)
    size.writeUInt16BE(1)
    size.writeUInt32BE(value.length, 2)
    return message('D', Buffer.concat([size, value]))
  }
  const binaryList = Buffer.from([
    0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 0, 0, 0, 1,
  ])
  for (const [type, format, value] of [
    [17, 0, Buffer.from('\\a')],
    [1184, 0, Buffer.alloc(400_000, '1')],
    [1009, 0, Buffer.alloc(400_000, '{')],
    [1007, 1, binaryList],
  ] as const) {
    const answer = [typed(type, format), cell(value), message('C', 'SELECT 1\0'), ready]
    await using server = await startHostileServer({
      atQuery(socket) {
        socket.write(Buffer.concat([columns, row, message('C', 'SELECT 1\0'), ready]))
        socket.once('data', () => socket.write(Buffer.concat(answer)))
      },
    })
    const access = { outbound: openWay, address: server.address, password: 'secret' }
    await using session = await connect(access, { database: 'd', applicationName: 'test' })
    const read = await session.rows('SELECT').then(
      ([one]) => Object.values(one ?? {})[0],
      (error: unknown) => error,
    )
    if (!(read instanceof RangeError)) assert.equal(read, value.toString())
  }
})

test('what a server says of its version and its numbers is no longer than such are', async () => {
  const described = (names: readonly string[]): Buffer => {
    const count = Buffer.alloc(2)
    count.writeUInt16BE(names.length)
    const column = (name: string) => [Buffer.from(`${name}\0`), Buffer.alloc(18)]
    return message('T', Buffer.concat([count, ...names.flatMap(column)]))
  }
  const answerOf = (row: Readonly<Record<string, string>>): Buffer => {
    const cells = Object.values(row).flatMap((value) => {
      const size = Buffer.alloc(4)
      size.writeUInt32BE(value.length)
      return [size, Buffer.from(value)]
    })
    const count = Buffer.alloc(2)
    count.writeUInt16BE(Object.keys(row).length)
    const data = message('D', Buffer.concat([count, ...cells]))
    return Buffer.concat([described(Object.keys(row)), data, message('C', 'SELECT 1\0'), ready])
  }
  const usual = {
    ...{ version: '15.18 (Debian)', number: '150018', superuser: 't', started: '1', buffers: '1' },
    ...{ connections: '100', wal: 'replica' },
  }
  const database = { name: 'd', owner: 'o', encoding: 'UTF8', collation: 'C', size: '7' }
  const inspected = async (
    facts: Readonly<Record<string, string>>,
    size: string,
  ): Promise<unknown> => {
    await using server = await startHostileServer({
      atQuery(socket) {
        socket.write(Buffer.concat([message('C', 'SELECT 1\0'), ready]))
        socket.once('data', () => {
          socket.write(answerOf({ ...usual, ...facts }))
          socket.once('data', () => socket.write(answerOf({ ...database, size })))
        })
      },
    })
    return await engine.inspect({ address: server.address, password: 'secret' }).then(
      ({ version, dataBytes }) => `${version} ${dataBytes}`,
      (error: unknown) => (error instanceof DatabaseEngineError ? error.kind : error),
    )
  }
  assert.equal(await inspected({}, '7'), '15.18 7')
  assert.equal(await inspected({ version: `1${'5'.repeat(100)}` }, '7'), 'refused')
  assert.equal(await inspected({ version: '<b>' }, '7'), 'refused')
  assert.equal(await inspected({ number: 'many' }, '7'), 'refused')
  assert.equal(await inspected({}, '1e300'), 'refused')
})

test('small messages without end are read no further than a look may', async () => {
  const many = Buffer.concat(Array.from({ length: 1000 }, () => message('S', 'a\0b\0')))
  const { message: text } = await refusalOf({ atQuery: (socket) => flood(socket, many) })
  assert.match(text, /more than a look may read/)
})

test('a server has one try at each step of a sign-in', async () => {
  const code = (kind: number) => Buffer.from([0, 0, 0, kind])
  const begin = message('R', Buffer.concat([code(10), Buffer.from('SCRAM-SHA-256\0\0')]))
  const goOn = (first: Buffer): Buffer => {
    const nonce = /r=([^,]+)/.exec(first.toString('latin1'))?.[1]
    return message('R', Buffer.concat([code(11), Buffer.from(`r=${nonce}x,s=AAAA,i=4096`)]))
  }
  let responses = 0
  await refusalOf({
    atStart(socket) {
      socket.write(begin)
      socket.once('data', (first) => {
        socket.write(Buffer.concat(Array.from({ length: 50 }, () => goOn(first))))
        // Each is a message of its own: its kind, its length, and the proof.
        socket.on('data', (bytes) => {
          responses += bytes.toString('latin1').split('c=biws').length - 1
        })
      })
    },
  })
  assert.ok(responses <= 1, `${responses} keys were derived`)
})

test('what a server says of an error is cut, and holds no control characters', async () => {
  const words = `\u001b[2J${'no '.repeat(1_000_000)}`
  const error = message('E', `SERROR\0CXX000\0M${words}\0\0`)
  const { message: text } = await refusalOf({ atQuery: (socket) => void socket.end(error) })
  assert.ok(text.length < 1000)
  assert.doesNotMatch(text, /\p{Cc}/u)
})

test('a server that repeats the password is not shown with it', async () => {
  for (const code of ['XX000', '28P01', '3D000', '57P03']) {
    const words = message('E', `SERROR\0C${code}\0Mno 'secret' here, secret\0\0`)
    for (const conduct of [
      { atStart: (socket) => void socket.end(words) },
      { atQuery: (socket) => void socket.end(words) },
    ] satisfies readonly Conduct[]) {
      assert.doesNotMatch((await refusalOf(conduct)).message, /secret/, code)
    }
  }
})

test('sessions that hold much and fall silent give way to those that hold little', async () => {
  const room = new LookRoom(400_000)
  const look = { seconds: 60, bytes: 200_000, room }
  const open = (address: ServerAddress) =>
    connect(
      { outbound: openWay, address, password: 'secret', budget: look },
      { database: 'd', applicationName: 'test' },
    )
  // Rows up to just below what one may hold, and nothing more.
  const held = Buffer.concat([columns, ...Array.from({ length: 1_500 }, () => row)])
  let begun = 0
  await using silent = await startHostileServer({
    atQuery: (socket) => void socket.write(held, () => begun++),
  })
  const answer = Buffer.concat([
    columns,
    ...Array.from({ length: 900 }, () => row),
    message('C', 'SELECT 1\0'),
    ready,
  ])
  await using victim = await startHostileServer({ atQuery: (socket) => void socket.write(answer) })
  const ends = Array.from({ length: 2 }, () =>
    open(silent.address).then(
      () => 'opened',
      (error: unknown) => error,
    ),
  )
  await until(() => begun === 2)
  await using session = await open({ ...victim.address, host: 'localhost' })
  assert.equal(session.lost(), undefined)
  const first = await Promise.race(ends)
  assert.match(String(first), /too much is being read at once/)
})

test('a server that falls silent is waited for no longer than a look may take', async () => {
  await using server = await startHostileServer({})
  const budget = { seconds: 0.2, bytes: 1000, room: new LookRoom(1000) }
  const access = { outbound: openWay, address: server.address, password: 'secret', budget }
  const opened = connect(access, { database: 'd', applicationName: 'test' })
  await assert.rejects(opened, { kind: 'unavailable', message: /broken off: it timed out/ })
})

test('a connection is closed, also where the server keeps its half open', async () => {
  await using server = await startHostileServer({
    atQuery: (socket) => void socket.write(Buffer.concat([message('C', 'SELECT 1\0'), ready])),
  })
  const access = { outbound: openWay, address: server.address, password: 'secret' }
  await using session = await connect(access, { database: 'd', applicationName: 'test' })
  await session[Symbol.asyncDispose]()
  await until(() => server.open() === 0)
})

test('without a password none of the environment is sent', async (t) => {
  process.env['PGPASSWORD'] = 'of-the-operator'
  t.after(() => delete process.env['PGPASSWORD'])
  const answer = Promise.withResolvers<string>()
  await using server = await startHostileServer({
    atStart(socket) {
      socket.write(message('R', Buffer.from([0, 0, 0, 3])))
      socket.once('data', (bytes) => answer.resolve(bytes.toString('latin1')))
    },
  })
  void engine.inspect({ address: server.address, password: '' }).catch(() => undefined)
  assert.doesNotMatch(await answer.promise, /operator/)
})
